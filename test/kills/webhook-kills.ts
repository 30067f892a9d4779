import { rm } from "node:fs/promises";
import { z } from "@hono/zod-openapi";
import type { Server } from "#scripts/lib/server.ts";
import { orderViolations, startReceiver } from "../webhook-receiver.ts";
import { startServer, temporaryState } from "#test/browser/server.ts";

const SITE = "5eed00000000000000000001";
const HEADERS = { "Tifo-Client-Id": SITE, "Tifo-Developer-Key": "tifo_dev_demo", "Content-Type": "application/json" };
const OVERLAYS = 10;
const LANES = 4;

const Overlay = z.object({ _id: z.string() });
const Log = z.object({ results: z.array(z.object({ id: z.string(), sequence: z.number() })), after: z.number() });

export interface Outcome {
  acknowledged: number;
  /** Acknowledged changes without a webhook. */
  undelivered: string[];
  /** Events in the log that the receiver didn't get. */
  missing: string[];
  orderViolations: string[];
  requests: number;
}

/** Changes overlays while the server is killed this many times, each after some changes, then waits until all events are delivered. */
export async function changeUnderKills(kills: number, changesPerRun: number): Promise<Outcome> {
  const state = await temporaryState();
  const receiver = await startReceiver();
  const acknowledged: string[] = [];
  let server = await startServer({ state });
  try {
    await call(server, "POST", "/webhooks/v1", {
      webhooks: { enabled: true, webhookUrl: receiver.url, webhookSubscriptions: ["overlay-service-v1"] },
    });
    const ids: string[] = [];
    for (let i = 0; i < OVERLAYS; i++) ids.push(Overlay.parse(await call(server, "POST", "/overlay/v1", overlay("created")))._id);
    for (let run = 0; run < kills; run++) {
      await changeUntilKilled(server, ids, run, changesPerRun, acknowledged);
      server = await startServer({ state });
    }
    const received = () => new Set([...receiver.events.values()].map(({ data }) => data.name));
    await change(server, ids[0] ?? "", "last");
    acknowledged.push("last");
    const log = await readLog(server);
    // The log may have been read before it had the last change.
    const isComplete = () => log.every((id) => receiver.events.has(id)) && received().has("last");
    await Promise.race([receiver.until(isComplete), timeout()]);
    return {
      acknowledged: acknowledged.length,
      undelivered: acknowledged.filter((name) => !received().has(name)),
      missing: log.filter((id) => !receiver.events.has(id)),
      orderViolations: orderViolations(receiver.events.values()),
      requests: receiver.requests(),
    };
  } finally {
    await server.kill();
    await receiver.stop();
    await rm(state, { recursive: true, force: true, maxRetries: 5 });
  }
}

/** Runs lanes of changes during which the server is killed; acknowledged changes have to reach the receiver. */
async function changeUntilKilled(server: Server, ids: string[], run: number, changes: number, acknowledged: string[]): Promise<void> {
  let done = 0;
  let killed: Promise<void> | undefined;
  const lane = async (number: number): Promise<void> => {
    for (let i = 0; ; i++) {
      const name = `${run}-${number}-${i}`;
      await change(server, ids[(number + i * LANES) % ids.length] ?? "", name);
      acknowledged.push(name);
      done += 1;
      if (done === changes) killed = server.kill();
    }
  };
  await Promise.allSettled(Array.from({ length: LANES }, (_, number) => lane(number)));
  await killed;
}

function change(server: Server, id: string, name: string): Promise<unknown> {
  return call(server, "PUT", `/overlay/v1/${id}`, overlay(name));
}

function overlay(name: string) {
  const contents = [{ kind: "html", html: "Goal", position: "center" }];
  return { name, description: "", siteId: SITE, type: "template", duration: 8, contents };
}

async function readLog(server: Server): Promise<string[]> {
  const ids: string[] = [];
  const types = "overlay.created,overlay.updated";
  for (let after = 0; ;) {
    const page = Log.parse(await call(server, "GET", `/webhooks/v1/events?types=${types}&limit=200&after=${after}`));
    if (page.results.length === 0) return ids;
    ids.push(...page.results.map(({ id }) => id));
    after = page.after;
  }
}

async function call(server: Server, method: string, path: string, body?: unknown): Promise<unknown> {
  const response = await fetch(server.url + path, { method, headers: HEADERS, body: body === undefined ? null : JSON.stringify(body) });
  if (!response.ok) throw new Error(`${method} ${path} returned ${response.status}: ${await response.text()}`);
  return response.json();
}

/** Limits a failing wait. */
function timeout(): Promise<void> {
  return new Promise((done) => setTimeout(done, 300_000).unref());
}
