import sharp from "sharp";
import { Canvas } from "./canvas.ts";
import { FRAMES_PER_SECOND, HEIGHT, project, scaleOfRow, STAND_ROW, WIDTH } from "./geometry.ts";
import { lettering } from "./lettering.ts";
import { panorama, PANORAMA_WIDTH } from "./panorama.ts";
import type { Scene } from "./players.ts";
import { type Sprite, spriteOf } from "./sprites.ts";
import { SECONDS_PER_MINUTE } from "./story.ts";
import { CELL, cellsOf } from "./time-strip.ts";

const BLACK = [8, 8, 16] as const;
const WHITE = [255, 255, 255] as const;
const SHADOW = [6, 40, 20] as const;
const WIPE_COLOURS = [[90, 74, 240], [255, 255, 255], [25, 22, 55], [90, 74, 240]] as const; // prettier-ignore
/** Seconds from the first pixel of a wipe to the last. */
const WIPE_SECONDS = 0.8;
const CELEBRATION_SECONDS = 2.9;

/** Draws scenes one after the other, into the same buffer. */
export async function createPainter(wipes: number[]): Promise<(scene: Scene, frame: number) => Promise<Buffer>> {
  const stadium = { seated: await panorama(null), home: await panorama("home"), away: await panorama("away") };
  const canvas = new Canvas();
  const boards = new Map<string, Promise<Sprite>>();

  return async (scene, frame) => {
    const celebrating = scene.sinceGoal < CELEBRATION_SECONDS ? scene.lastGoal : null;
    drawStadium(canvas, stadium[celebrating ?? "seated"], scene.camera);
    await drawScoreboard(canvas, boards, scene);
    await drawPeople(canvas, scene);
    for (const wipe of wipes) drawWipe(canvas, scene.time - wipe);
    await drawTime(canvas, boards, frame);
    return canvas.pixels;
  };
}

/** Each row of the picture is a part of the panorama's row, further along the nearer it is. Fractions of a pixel are interpolated. */
function drawStadium({ pixels }: Canvas, stadium: Buffer, camera: number): void {
  for (let row = 0; row < HEIGHT; row++) {
    // The stand moves by whole pixels, or its seats would flicker.
    const shift = camera * scaleOfRow(row);
    const offset = (PANORAMA_WIDTH - WIDTH) / 2 + (row < STAND_ROW ? Math.round(shift) : shift);
    const whole = Math.floor(offset);
    const part = Math.round((offset - whole) * 256);
    const from = (row * PANORAMA_WIDTH + whole) * 3;
    const to = row * WIDTH * 3;
    if (part === 0) stadium.copy(pixels, to, from, from + WIDTH * 3);
    else
      for (let index = 0; index < WIDTH * 3; index++) {
        const left = stadium[from + index] ?? 0;
        pixels[to + index] = left + ((((stadium[from + index + 3] ?? 0) - left) * part) >> 8);
      }
  }
}

async function drawPeople(canvas: Canvas, { players, ball, camera }: Scene): Promise<void> {
  const spots = players.map((player) => ({ player, ...project(player, camera) }));
  for (const { column, row, scale } of spots) canvas.fillEllipse(column, row, scale * 0.62, scale * 0.2, SHADOW, 0.45);
  const ground = project({ x: ball.x, y: ball.y }, camera);
  canvas.fillEllipse(ground.column, ground.row, ground.scale * 0.3, ground.scale * 0.12, SHADOW, 0.5);
  let ballDrawn = false;
  for (const { player, column, row, scale } of spots.sort((one, other) => one.player.y - other.player.y)) {
    if (!ballDrawn && ball.y < player.y - 0.4) ballDrawn = drawBall(canvas, ball, camera);
    const sprite = await spriteOf(player, scale);
    canvas.drawSprite(sprite, column - sprite.width / 2, row - sprite.height + 1);
  }
  if (!ballDrawn) drawBall(canvas, ball, camera);
}

function drawBall(canvas: Canvas, ball: Required<Scene["ball"]>, camera: number): true {
  const { column, row, scale } = project({ ...ball, z: ball.z + 0.22 }, camera);
  canvas.fillEllipse(column, row, scale * 0.27, scale * 0.27, [16, 22, 30]);
  canvas.fillEllipse(column, row, scale * 0.22, scale * 0.22, WHITE);
  return true;
}

/** The scoreboard above the stand, with the minute of the match. */
async function drawScoreboard(
  canvas: Canvas,
  boards: Map<string, Promise<Sprite>>,
  { time, score, sinceGoal, camera }: Scene,
): Promise<void> {
  const minute = Math.floor(time / SECONDS_PER_MINUTE);
  const flash = sinceGoal < CELEBRATION_SECONDS && Math.floor(sinceGoal * 2.5) % 2 === 0;
  const text = flash ? "GOAL!" : `${score.home} - ${score.away}`;
  const key = `${text}${minute}`;
  const board = boards.get(key) ?? render(scoreboard(text, minute));
  boards.set(key, board);
  const sprite = await board;
  canvas.drawSprite(sprite, WIDTH / 2 - camera * scaleOfRow(0) - sprite.width / 2, 26);
}

function scoreboard(text: string, minute: number): string {
  return `<svg xmlns="http://www.w3.org/2000/svg" width="440" height="112">
    <rect x="130" width="8" height="40" fill="#0e0c22"/><rect x="302" width="8" height="40" fill="#0e0c22"/>
    <rect x="1" y="13" width="438" height="97" rx="8" fill="#0b0a1c" stroke="#4a3fd0" stroke-width="2"/>
    <rect x="14" y="30" width="6" height="34" fill="#f6f5ff"/><rect x="420" y="30" width="6" height="34" fill="#ff8a3d"/>
    ${lettering("HARBOUR", { x: 90, y: 40, height: 14, colour: "#f6f5ff", middle: true })}
    ${lettering("OLD DOCK", { x: 350, y: 40, height: 14, colour: "#f6f5ff", middle: true })}
    ${lettering(text, { x: 220, y: 33, height: 28, colour: text === "GOAL!" ? "#ff8a3d" : "#ffffff", middle: true })}
    ${lettering(`${minute}'`, { x: 220, y: 80, height: 18, colour: "#b7b0ff", middle: true })}
  </svg>`;
}

async function render(svg: string): Promise<Sprite> {
  const { data, info } = await sharp(Buffer.from(svg)).ensureAlpha().raw().toBuffer({ resolveWithObject: true });
  return { pixels: data, width: info.width, height: info.height };
}

/** A diagonal band that crosses the picture and covers it in the middle, when the picture behind it is cut. */
function drawWipe(canvas: Canvas, sinceMiddle: number): void {
  if (Math.abs(sinceMiddle) > WIPE_SECONDS / 2) return;
  const part = sinceMiddle / WIPE_SECONDS + 0.5;
  const slant = 240;
  const band = WIDTH + slant + 260;
  const left = -band - slant + part * (WIDTH + band + 2 * slant);
  const parts = [0, 0.08, 0.13, 0.9, 1].map((share) => share * band);
  for (let row = 0; row < HEIGHT; row++) {
    const start = Math.round(left + slant * (1 - row / HEIGHT));
    WIPE_COLOURS.forEach((colour, index) => {
      const [from, to] = [start + Math.round(parts[index] ?? 0), start + Math.round(parts[index + 1] ?? 0)];
      canvas.fillRectangle(from, row, to - from, 1, colour);
    });
  }
}

/** The media time for people, and for programs. */
async function drawTime(canvas: Canvas, boards: Map<string, Promise<Sprite>>, frame: number): Promise<void> {
  const tenths = Math.floor((frame * 10) / FRAMES_PER_SECOND);
  const text = `${Math.floor(tenths / 600)}:${String(Math.floor(tenths / 10) % 60).padStart(2, "0")}.${tenths % 10}`;
  const sprite = await (boards.get(text) ??
    render(`<svg xmlns="http://www.w3.org/2000/svg" width="92" height="26"><rect width="92" height="26" rx="6" fill="#08080f" fill-opacity="0.55"/>
      ${lettering(text, { x: 46, y: 7, height: 12, colour: "#ffffff", middle: true })}</svg>`));
  canvas.drawSprite(sprite, WIDTH - 104, HEIGHT - 36);
  cellsOf(frame).forEach((white, index) =>
    canvas.fillRectangle(index * CELL.width, HEIGHT - CELL.height, CELL.width, CELL.height, white ? WHITE : BLACK),
  );
}
