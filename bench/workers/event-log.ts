import { z } from "@hono/zod-openapi";
import { SITE_A } from "#db/demo.ts";
import { SiteLog as TifoSiteLog, WebhookEndpoint as TifoWebhookEndpoint } from "#worker/index.ts";
import worker from "#worker/index.ts";
import { siteLogOf } from "#worker/durable-objects/stubs.ts";
import { newId } from "#worker/lib/ids.ts";
import { sampleEvent } from "#worker/services/event-catalogue/event-samples.ts";
import type { EventType } from "#worker/services/event-catalogue/event-catalogue.ts";

export * from "#worker/index.ts";

// Tifo's Worker, with a path that commits events as its own operations do, and another that reports the rows which the objects have written.

const CHANNELS = 20;
const RESOURCES = 100;

/** Of each ten events: half without effects, and half whose effects call leaderboards, channels, chats and question boards. */
const MIXTURE: { type: EventType; area: string; resources: number }[] = [
  ...Array.from({ length: 5 }, () => ({ type: "overlay.updated" as const, area: "overlay", resources: RESOURCES })),
  ...Array.from({ length: 3 }, () => ({ type: "account.updated" as const, area: "account", resources: RESOURCES })),
  { type: "admin.channelUpdated", area: "page", resources: CHANNELS },
  { type: "question.submitted", area: "question", resources: RESOURCES },
];

const SAMPLES = new Map<EventType, Record<string, unknown>>();
const rows = { log: 0, endpoints: 0 };

/** Adds what the object's statements write to `rows`. A cursor knows it once it is read, so each is asked when the next one starts. */
function countRows(storage: DurableObjectStorage, kind: keyof typeof rows): void {
  const { sql } = storage;
  const execute = sql.exec.bind(sql);
  let last: SqlStorageCursor<Record<string, SqlStorageValue>> | undefined;
  Object.defineProperty(sql, "exec", {
    value: (query: string, ...bindings: unknown[]) => {
      rows[kind] += last?.rowsWritten ?? 0;
      last = execute(query, ...bindings);
      return last;
    },
  });
}

export class SiteLog extends TifoSiteLog {
  constructor(ctx: DurableObjectState, env: Env) {
    countRows(ctx.storage, "log");
    super(ctx, env);
  }
}

export class WebhookEndpoint extends TifoWebhookEndpoint {
  constructor(ctx: DurableObjectState, env: Env) {
    countRows(ctx.storage, "endpoints");
    super(ctx, env);
  }
}

const Commit = z.object({ from: z.number(), count: z.number() });

const INSERT = `INSERT INTO outbox (site_id, event_id, type, resource, data, actor, request_id, origin, created)
  SELECT ?1, value ->> 0, value ->> 1, value ->> 2, value ->> 3, 'system', 'bench', NULL, ?2 FROM json_each(?3)`;

/** Commits events in one batch. */
async function commit(env: Env, { from, count }: z.output<typeof Commit>): Promise<number> {
  const now = Date.now();
  const events = Array.from({ length: count }, (_, index) => newEvent(from + index, now));
  const result = await env.DB.prepare(INSERT).bind(SITE_A, now, JSON.stringify(events)).run();
  return result.meta.rows_written;
}

function newEvent(number: number, now: number): string[] {
  const { type, area, resources } = MIXTURE[number % MIXTURE.length] ?? { type: "overlay.updated", area: "overlay", resources: 1 };
  const data = SAMPLES.get(type) ?? sampleEvent(type).data;
  SAMPLES.set(type, data);
  const id = `be${(Math.floor(number / MIXTURE.length) % resources).toString(16).padStart(22, "0")}`;
  return [newId(now), type, `${area}/${id}`, JSON.stringify({ ...data, _id: id, siteId: SITE_A })];
}

/** What deleting a row of the outbox writes, once taken. */
async function rowsOfDeletion(env: Env): Promise<number> {
  await env.DB.prepare(INSERT)
    .bind("probe", 0, JSON.stringify(Array.from({ length: 100 }, (_, number) => newEvent(number, 0))))
    .run();
  const result = await env.DB.prepare("DELETE FROM outbox WHERE site_id = 'probe' AND id <= 9e15").run();
  return result.meta.rows_written / 100;
}

export default {
  async fetch(request, env, ctx) {
    const { pathname } = new URL(request.url);
    if (pathname === "/bench/commit") {
      const written = await commit(env, Commit.parse(await request.json()));
      ctx.waitUntil(siteLogOf(env, SITE_A).nudge());
      return Response.json({ written });
    }
    if (pathname === "/bench/rows") return Response.json(rows);
    if (pathname === "/bench/deletion") return Response.json({ written: await rowsOfDeletion(env) });
    return worker.fetch(request, env, ctx);
  },
} satisfies ExportedHandler<Env>;
