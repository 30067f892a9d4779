import { randomUUID } from "node:crypto";
import { done, ok, TifoProblem } from "../../sdk/client/index.ts";
import { type Command, JSON_OPTION, SITE_OPTIONS } from "../lib/command.ts";
import { EXIT, Failure, wrongUsage } from "../lib/failure.ts";
import { readInput } from "../lib/files.ts";
import { type Io, jsonLine, plain } from "../lib/io.ts";
import { parseId } from "../lib/origin.ts";
import { type Entry, overlayOf, parseRecording, type RecordedBroadcast, secondsOf } from "../lib/recording.ts";
import { describeProblem, exitCodeOf } from "../lib/report.ts";
import { openPublicSite, openSite, type Site } from "../lib/session.ts";
import { type Provider, providerSecret, sendSigned } from "../lib/signed-event.ts";
import type { Values } from "../lib/values.ts";

export const replay: Command = {
  name: "replay",
  summary: "Replay a recording on a channel, at its own pace or faster.",
  details: [
    "A recording is a file of JSON lines: overlay.show frames, from tifo record or tifo tail --channel --json, are broadcast",
    'on the channel; lines like {"at": <ms>, "event": {...}} are sent as events of a data provider, so that rules run.',
    "Broadcasts with files or graphics of another site are skipped with a note. The overlays that it creates are deleted at the end.",
  ].join("\n"),
  args: ["<file>"],
  options: {
    ...SITE_OPTIONS,
    channel: { type: "string", value: "<id>", description: "The channel for broadcasts; by default that of the sandbox" },
    provider: { type: "string", value: "<id>", description: "The data provider for events; its secret is in TIFO_PROVIDER_SECRET" },
    speed: { type: "string", value: "<factor>", description: "How many times faster than recorded. Default: 1" },
    ...JSON_OPTION,
  },
  examples: [
    "tifo replay match.jsonl --channel 5eed0000000000000000c001 --speed 30",
    "tifo record 5eed0000000000000000c001 --from 3h | tifo replay - --origin http://localhost:8787",
  ],
  async run(values, io) {
    const speed = values.number("speed", 0.01) ?? 1;
    const entries = parseRecording(await readInput(values.args[0] ?? "", io));
    const first = entries[0];
    if (first === undefined) throw wrongUsage("The recording is empty.", { fix: "Record a channel with tifo record <channel> --from 3h." });
    const target = await targetOf(entries, values, io);
    const report = { sent: 0, skipped: 0 };
    const start = io.now();
    const overlays = new Map<string, Promise<string>>();
    try {
      for (const entry of entries) {
        const wait = start + (entry.at - first.at) / speed - io.now();
        if (wait > 0) await io.sleep(wait);
        if (io.signal.aborted) break;
        await send(entry).then(
          () => report.sent++,
          (error: unknown) => skip(error),
        );
      }
    } finally {
      await deleteOverlays([...overlays.values()], target.site, io);
    }
    io.out(values.flag("json") ? jsonLine(report) : `Sent ${report.sent} of ${entries.length}.`);
    if (report.skipped > 0) {
      throw new Failure(`${report.skipped} of ${entries.length} were skipped.`, EXIT.failed, {
        reason: "This site doesn't accept them: the notes above say why.",
        fix: "Upload the files and graphics that the recording uses to this site, or replay it on the site that it is from.",
      });
    }

    async function send(entry: Entry): Promise<void> {
      if ("event" in entry)
        return void (target.provider && (await sendSigned(target.provider, entry.eventId ?? randomUUID(), entry.event, io)));
      await broadcast(entry.broadcast, target, overlays, speed);
    }

    /** What this site doesn't accept is skipped; everything else, such as a revoked key, ends the replay. */
    function skip(error: unknown): void {
      if (!(error instanceof TifoProblem) || exitCodeOf(error) !== EXIT.failed || error.status >= 500 || error.status === 429) throw error;
      report.skipped++;
      io.note(plain(`Skipped: ${describeProblem(error)}`));
    }
  },
};

interface Target {
  site: Site;
  channelId: string;
  provider: Provider | undefined;
}

async function targetOf(entries: readonly Entry[], values: Values, io: Io): Promise<Target> {
  const hasBroadcasts = entries.some((entry) => "broadcast" in entry);
  const site = hasBroadcasts ? openSite(values, io) : openPublicSite(values, io);
  const channelId = values.text("channel") ?? site.session?.channelId;
  if (hasBroadcasts && channelId === undefined) throw wrongUsage("--channel is required for the recording's broadcasts.");
  const provider = entries.some((entry) => "event" in entry) ? await providerOf(site, values, io) : undefined;
  return { site, channelId: channelId === undefined ? "" : parseId(channelId, "channel"), provider };
}

async function providerOf({ origin, siteId }: Site, values: Values, io: Io): Promise<Provider> {
  const providerId = parseId(values.required("provider"), "provider");
  const secret = await providerSecret(io);
  if (secret === undefined) throw wrongUsage("Set TIFO_PROVIDER_SECRET to the provider's secret.");
  return { origin, siteId, providerId, secret };
}

/** Broadcasts with the same elements share an overlay. */
async function broadcast(
  recorded: RecordedBroadcast,
  target: Target,
  overlays: Map<string, Promise<string>>,
  speed: number,
): Promise<void> {
  const { site, channelId } = target;
  const { api } = site.client;
  const key = JSON.stringify([recorded.contents, recorded.cta]);
  const creation = overlays.get(key) ?? ok(api.POST("/overlay/v1", { body: overlayOf(recorded, site.siteId) })).then(({ _id }) => _id);
  overlays.set(key, creation);
  const id = await creation;
  const { priority, broadcastPayload } = recorded;
  const duration = secondsOf(recorded.duration, speed);
  const body = { channelId, duration, priority, ...(broadcastPayload && { broadcastPayload }) };
  await ok(api.POST("/overlay/v1/broadcast/{id}", { params: { path: { id } }, body }));
}

async function deleteOverlays(creations: readonly Promise<string>[], { client }: Site, io: Io): Promise<void> {
  for (const creation of await Promise.allSettled(creations)) {
    if (creation.status === "rejected") continue;
    const id = creation.value;
    await done(client.api.DELETE("/overlay/v1/{id}", { params: { path: { id } } })).catch((error: unknown) =>
      io.note(plain(`Overlay ${id} wasn't deleted: ${describeProblem(error)}`)),
    );
  }
}
