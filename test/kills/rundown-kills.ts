import { rm } from "node:fs/promises";
import { setTimeout as sleep } from "node:timers/promises";
import { z } from "@hono/zod-openapi";
import { CHANNEL_1, SITE_A } from "#db/demo/match-day.ts";
import { GOAL_TEMPLATE } from "#db/demo/overlays.ts";
import type { Server } from "#scripts/lib/server.ts";
import { startServer, temporaryState } from "#test/browser/server.ts";
import { Viewer } from "#test/browser/viewer.ts";

/** The minimum duration of a take in ms, during which the server is killed. */
const TAKE_MS = 25;
/** So that a viewer who reconnects always receives what was shown. */
const DURATION_S = 3600;

const Take = z.object({ _id: z.string(), generation: z.number() });
const AsRun = z.object({ results: z.array(Take) });
type Take = z.output<typeof Take>;

export interface Outcome {
  takes: number;
  /** Generations in which two operators got different takes. */
  different: number[];
  /** Takes that the log doesn't have exactly once, in order. */
  misrecorded: number[];
  /** Takes without an overlay on the viewer's screen. */
  lost: number[];
  /** Takes with more than one. */
  twice: number[];
}

/**
 * Two operators press take at the same instant, again and again, while the server is killed this many times, each time during a take. They
 * repeat what gets no response, as a button does. Returns what the log has and what a viewer was shown.
 */
export async function takeUnderKills(kills: number, takesPerRun: number): Promise<Outcome> {
  const state = await temporaryState();
  const viewer = new Viewer();
  let server = await startServer({ state });
  const taken: Take[][] = [];
  try {
    const rundown = await createRundown(server);
    await viewer.connect(server);
    const takeBoth = (): Promise<Take[]> => Promise.all([1, 2].map(() => take(server, rundown, taken.length)));
    for (let run = 0; run < kills; run++) {
      for (let press = 0; press < takesPerRun; press++) taken.push(await takeBoth());
      const pressed = takeBoth().catch(() => undefined);
      await Promise.all([pressed, sleep(Math.random() * TAKE_MS).then(() => server.kill())]);
      server = await startServer({ state });
      await viewer.connect(server);
      taken.push(await takeBoth());
    }
    const { results: log } = AsRun.parse(await call(server, `/rundown/v1/${rundown}/as-run?limit=200`));
    const ids = taken.map(([first]) => first?._id ?? "");
    const times = (generation: number): number => viewer.shown.filter(({ broadcastId }) => broadcastId === ids[generation]).length;
    const generations = ids.map((_, generation) => generation);
    await Promise.race([viewer.until(() => generations.every((generation) => times(generation) > 0)), timeout()]);
    return {
      takes: taken.length,
      different: generations.filter((generation) => new Set(taken[generation]?.map(({ _id }) => _id)).size !== 1),
      misrecorded: log.length === ids.length ? generations.filter((generation) => log[generation]?._id !== ids[generation]) : generations,
      lost: generations.filter((generation) => times(generation) === 0),
      twice: generations.filter((generation) => times(generation) > 1),
    };
  } finally {
    viewer.close();
    await server.kill();
    await rm(state, { recursive: true, force: true, maxRetries: 5 });
  }
}

async function createRundown(server: Server): Promise<string> {
  const goal = { kind: "broadcast", name: "Goal", overlayId: GOAL_TEMPLATE, broadcast: { duration: DURATION_S } };
  const body = { channelId: CHANNEL_1, name: "Under kills", items: [goal] };
  return z.object({ _id: z.string() }).parse(await call(server, "/rundown/v1", body))._id;
}

/** Takes the only item in this generation. */
async function take(server: Server, rundown: string, generation: number): Promise<Take> {
  const { items } = z.object({ items: z.tuple([z.object({ _id: z.string() })]) }).parse(await call(server, `/rundown/v1/${rundown}`));
  return Take.parse(await call(server, `/rundown/v1/${rundown}/take`, { generation, itemId: items[0]._id }));
}

async function call(server: Server, path: string, body?: object): Promise<unknown> {
  const response = await fetch(server.url + path, {
    method: body ? "POST" : "GET",
    headers: { "Tifo-Client-Id": SITE_A, "Tifo-Developer-Key": "tifo_dev_demo", "Content-Type": "application/json" },
    body: body ? JSON.stringify(body) : null,
  });
  if (!response.ok) throw new Error(`${path} failed with ${response.status}`);
  return response.json();
}

/** Limits a failing wait; the site's log, which each press wakes, or an alarm normally deliver within seconds. */
function timeout(): Promise<void> {
  return sleep(300_000, undefined, { ref: false });
}
