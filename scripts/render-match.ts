// Renders the demo's match video into docs/public/match, with ffmpeg and libx264: node scripts/render-match.ts. The files are committed, so that only
// a change of the picture needs it. The same scripts and the same ffmpeg produce the same files.
import { spawn } from "node:child_process";
import { once } from "node:events";
import { mkdirSync, readdirSync, rmSync, statSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import sharp from "sharp";
import { KICK_OFF } from "#db/demo/match-day.ts";
import { recordedManifest } from "#worker/services/demo-match/dash.ts";
import { multivariantPlaylist, recordedPlaylist } from "#worker/services/demo-match/hls.ts";
import { RENDITIONS, SEGMENT_SECONDS } from "#worker/services/demo-match/match-video.ts";
import { createPainter } from "./lib/match-video/frame.ts";
import { FRAMES_PER_SECOND, HEIGHT, SECONDS, WIDTH } from "./lib/match-video/geometry.ts";
import { scenes } from "./lib/match-video/simulation.ts";
import { matchStory } from "./lib/match-video/story.ts";
import { Problem, say } from "./lib/report.mjs";
import { ROOT } from "./lib/root.mjs";

const FOLDER = join(ROOT, "docs/public/match");
/** A shot shortly before it becomes a goal. */
const POSTER_FRAME = Math.round(33.6 * FRAMES_PER_SECOND);
/** The quality of each rendition (x264's constant rate factor): all of them together have to stay below 6 MB. */
const QUALITY: Record<string, number> = { "240p": 40, "360p": 40, "540p": 39.5 };

rmSync(FOLDER, { recursive: true, force: true });
for (const { id } of RENDITIONS) mkdirSync(join(FOLDER, id), { recursive: true });
const encoder = spawn("ffmpeg", encoderArguments(), { stdio: ["pipe", "inherit", "inherit"], cwd: FOLDER });
const ended = new Promise<number | null>((resolve) => encoder.once("exit", resolve));
await render();
encoder.stdin.end();
const status = await ended;
if (status !== 0) throw new Problem(`ffmpeg failed with ${status}`);
for (const rendition of RENDITIONS) {
  rmSync(join(FOLDER, `${rendition.id}/ffmpeg.m3u8`));
  writeFileSync(join(FOLDER, `${rendition.id}.m3u8`), recordedPlaylist(rendition, KICK_OFF));
}
writeFileSync(join(FOLDER, "match.m3u8"), multivariantPlaylist());
writeFileSync(join(FOLDER, "match.mpd"), recordedManifest());
report();

async function render(): Promise<void> {
  const story = matchStory();
  const paint = await createPainter(story.wipes);
  let frame = 0;
  for (const scene of scenes(story)) {
    const picture = await paint(scene, frame);
    // A copy, because the next frame is drawn into the same buffer.
    if (!encoder.stdin.write(Buffer.from(picture))) await once(encoder.stdin, "drain");
    if (frame === POSTER_FRAME) await writePoster(picture);
    if (frame % 250 === 0) say(`${frame / FRAMES_PER_SECOND} of ${SECONDS} s`);
    frame++;
  }
}

async function writePoster(picture: Buffer): Promise<void> {
  const raw = { width: WIDTH, height: HEIGHT, channels: 3 } as const;
  await sharp(Buffer.from(picture), { raw }).webp({ quality: 60, effort: 6 }).toFile(join(FOLDER, "poster.webp"));
}

/** A key frame at the start of every segment and nowhere else, and no reordered frames, so that all renditions can be switched. */
function encoderArguments(): string[] {
  const frames = SEGMENT_SECONDS * FRAMES_PER_SECOND;
  const splits = RENDITIONS.map((_, index) => `[in${index}]`).join("");
  const scales = RENDITIONS.map(
    ({ width, height }, index) =>
      `[in${index}]scale=${width}:${height}:flags=area:out_color_matrix=bt709:out_range=tv,format=yuv420p[v${index}]`,
  );
  const outputs = RENDITIONS.flatMap(({ id }, index) => [
    ...["-map", `[v${index}]`, "-c:v", "libx264", "-profile:v", "high", "-level", "3.1", "-preset", "slow", "-tune", "animation"],
    ...["-crf", String(QUALITY[id] ?? 32), "-bf", "0", "-g", String(frames), "-keyint_min", String(frames), "-sc_threshold", "0"],
    ...["-colorspace", "bt709", "-color_primaries", "bt709", "-color_trc", "bt709", "-threads", "2", "-x264-params", "psy=0"],
    ...["-map_metadata", "-1", "-fflags", "+bitexact", "-flags:v", "+bitexact"],
    ...["-f", "hls", "-hls_time", String(SEGMENT_SECONDS), "-hls_playlist_type", "vod", "-hls_segment_type", "fmp4"],
    ...["-hls_fmp4_init_filename", "init.mp4", "-hls_segment_filename", `${id}/%d.m4s`, `${id}/ffmpeg.m3u8`],
  ]);
  return [
    ...["-loglevel", "warning", "-y", "-f", "rawvideo", "-pix_fmt", "rgb24", "-s", `${WIDTH}x${HEIGHT}`, "-r", String(FRAMES_PER_SECOND)],
    ...["-i", "-", "-filter_complex", [`[0:v]split=${RENDITIONS.length}${splits}`, ...scales].join(";"), ...outputs],
  ];
}

function report(): void {
  let total = 0;
  for (const { id } of RENDITIONS) {
    const sizes = readdirSync(join(FOLDER, id)).map((name) => statSync(join(FOLDER, id, name)).size);
    const sum = sizes.reduce((all, size) => all + size, 0);
    total += sum;
    say(`${id}: ${Math.round(sum / 1000)} kB, at most ${Math.round((Math.max(...sizes) * 8) / SEGMENT_SECONDS / 1000)} kbit/s`);
  }
  say(`${Math.round(total / 1000)} kB in all`);
}
