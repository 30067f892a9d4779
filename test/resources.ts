import { eq } from "drizzle-orm";
import { z } from "@hono/zod-openapi";
import { createDb } from "#db/client.ts";
import { calendarEvents } from "#db/schema/calendar.ts";
import { overlays } from "#db/schema/overlays.ts";
import { pages } from "#db/schema/pages.ts";
import { panels } from "#db/schema/panels.ts";
import { playlists } from "#db/schema/playlists.ts";
import { polls } from "#db/schema/engagement/polls.ts";
import { quests } from "#db/schema/engagement/quests.ts";
import { streams } from "#db/schema/streams/streams.ts";
import { videos } from "#db/schema/videos.ts";
import { validCall } from "./contract-requests.ts";
import type { TestSite } from "./harness.ts";
import { operationOf } from "./openapi.ts";
import { siteStore } from "#test/site-store.ts";

// Creates resources at a test site, for requests that refer to them.

const db = createDb(siteStore);
const Created = z.looseObject({ _id: z.string() });

const CREATORS = {
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

export type ResourceKind = keyof typeof CREATORS;

/** Creates a resource of this kind, with the given id if there is one. */
export async function addResource(site: TestSite, kind: ResourceKind, id?: string): Promise<string> {
  const { operationId, table } = CREATORS[kind];
  const createdId = Created.parse((await site.call(operationId, await validCall(site, operationOf(operationId)))).body)._id;
  if (id === undefined) return createdId;
  await db.update(table).set({ id }).where(eq(table.id, createdId));
  return id;
}
