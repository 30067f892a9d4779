import { env } from "cloudflare:workers";
import { eq } from "drizzle-orm";
import { z } from "@hono/zod-openapi";
import { createDb } from "#db/client.ts";
import { calendarEvents, overlays, pages, panels, playlists, polls, quests, streams, videos } from "#db/schema/index.ts";
import { validCall } from "./contract-requests.ts";
import type { TestSite } from "./harness.ts";
import { operationOf } from "./openapi.ts";

// What a test site has, for requests that name it.

const db = createDb(env.DB);
const Made = z.looseObject({ _id: z.string() });

const MAKERS = {
  video: { operationId: "createVideo", table: videos },
  playlist: { operationId: "createPlaylist", table: playlists },
  page: { operationId: "createPage", table: pages },
  channel: { operationId: "createPage", table: pages },
  panel: { operationId: "createPanel", table: panels },
  overlay: { operationId: "createOverlay", table: overlays },
  event: { operationId: "createCalendarEvent", table: calendarEvents },
  stream: { operationId: "createStream", table: streams },
  poll: { operationId: "createPoll", table: polls },
  quest: { operationId: "createQuest", table: quests },
} as const;

export type ResourceKind = keyof typeof MAKERS;

/** Makes something of this kind, under an id of the test's own where it has one. */
export async function addResource(site: TestSite, kind: ResourceKind, id?: string): Promise<string> {
  const { operationId, table } = MAKERS[kind];
  const made = Made.parse((await site.call(operationId, await validCall(site, operationOf(operationId)))).body)._id;
  if (id === undefined) return made;
  await db.update(table).set({ id }).where(eq(table.id, made));
  return id;
}
