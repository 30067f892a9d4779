import { z } from "@hono/zod-openapi";
import type { LogEntry } from "#worker/durable-objects/site-log/site-log.protocol.ts";
import { questionBoardOf } from "#worker/durable-objects/stubs.ts";
import type { Effects } from "#worker/services/event-catalogue/effect.ts";
import { QuestionEvent } from "./schemas.ts";
import { syncViewers } from "./viewers.ts";

// Not `dataOf`, because an event of a deleted account has no data left; the erasure itself notifies the viewers.
const Data = z.union([QuestionEvent, z.object({ erased: z.literal(true) })]);

async function sync(env: Env, siteId: string, event: LogEntry): Promise<void> {
  const data = Data.parse(JSON.parse(event.data));
  if ("_id" in data) await syncViewers(env, siteId, { ...data, id: data._id });
}

/** Viewers receive nothing about a new question; the board tells its moderators. */
async function announce(env: Env, siteId: string, event: LogEntry): Promise<void> {
  const data = Data.parse(JSON.parse(event.data));
  if ("_id" in data) await questionBoardOf(env, siteId, data.channelId).changed([data._id]);
}

export const effects: Effects = {
  "question.submitted": announce,
  "question.approved": sync,
  "question.dismissed": sync,
  "question.answered": sync,
  "question.merged": sync,
};
