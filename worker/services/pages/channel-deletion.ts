import { and, eq, type SQL, sql } from "drizzle-orm";
import type { BatchItem } from "drizzle-orm/batch";
import type { SQLiteColumn } from "drizzle-orm/sqlite-core";
import { automationRules, calendarEvents, streams } from "#db/schema/index.ts";
import type { Actor, Ctx } from "#worker/services/core/context.ts";
import { insertEventsForRows } from "#worker/services/core/outbox.ts";

/** The statements, for the batch that deletes a channel, that detach or delete what references it, with an event for each row. */
export async function detachChannel(ctx: Ctx, channelId: string): Promise<BatchItem<"sqlite">[]> {
  const actor = await ctx.caller();
  return [...detachCalendar(ctx, actor, channelId), ...detachStreams(ctx, actor, channelId), ...deleteRules(ctx, actor, channelId)];
}

/** The channel's calendar events become events of the site. */
function detachCalendar(ctx: Ctx, actor: Actor, channelId: string): BatchItem<"sqlite">[] {
  const where = ofThisChannel(ctx, calendarEvents, channelId);
  const { id, siteId, title, description, categories, date, image, thirdPartyEventId, created, version } = calendarEvents;
  const data = {
    ...{ _id: id, siteId, channelId: sql`null`, titleRaw: title, descriptionRaw: description, thirdPartyEventId },
    ...{ categories: sql`json(${categories})`, date: sql`json(${date})`, image: sql`json(${image})` },
    ...{ created, modified: sql`${ctx.now}` },
  };
  const eventInsert = insertEventsForRows(ctx, actor, { type: "event.updated", area: "event", table: calendarEvents, where, data });
  const detach = ctx.db
    .update(calendarEvents)
    .set({ channelId: null, modified: ctx.now, version: sql`${version} + 1` })
    .where(where);
  return [eventInsert, detach];
}

/** The channel's streams, none of which is live, stay without a channel. */
function detachStreams(ctx: Ctx, actor: Actor, channelId: string): BatchItem<"sqlite">[] {
  const where = ofThisChannel(ctx, streams, channelId);
  const { id, siteId, title, provider, providerStreamId, ingestUrl, playbackUrl, ...rest } = streams;
  const { playback, fallbackImageUrl, tags, created, version } = rest;
  const data = {
    ...{ _id: id, siteId, title, channelId: sql`null`, provider, providerStreamId, ingestUrl, playbackUrl, streamKey: sql`null` },
    ...{ playback: sql`json(${playback})`, fallbackImageUrl, tags: sql`json(${tags})`, isLive: sql`json('false')`, liveSince: sql`null` },
    ...{ created, modified: sql`${ctx.now}` },
  };
  const eventInsert = insertEventsForRows(ctx, actor, { type: "stream.updated", area: "stream", table: streams, where, data });
  const detach = ctx.db
    .update(streams)
    .set({ channelId: null, modified: ctx.now, version: sql`${version} + 1` })
    .where(where);
  return [eventInsert, detach];
}

/** The channel's rules are deleted: without a channel they would apply to all channels. */
function deleteRules(ctx: Ctx, actor: Actor, channelId: string): BatchItem<"sqlite">[] {
  const where = ofThisChannel(ctx, automationRules, channelId);
  const { id, siteId, name, jsonRule, channelId: ofChannel, active, clientRule, created, modified } = automationRules;
  const data = {
    ...{ _id: id, siteId, name, jsonRule: sql`json(${jsonRule})`, channelId: ofChannel },
    ...{ active: flag(active), clientRule: flag(clientRule), created, modified },
  };
  const eventInsert = insertEventsForRows(ctx, actor, {
    type: "personalization.ruleDeleted",
    area: "rule",
    table: automationRules,
    where,
    data,
  });
  return [eventInsert, ctx.db.delete(automationRules).where(where)];
}

function ofThisChannel(ctx: Ctx, table: { siteId: SQLiteColumn; channelId: SQLiteColumn }, channelId: string): SQL | undefined {
  return and(eq(table.siteId, ctx.siteId), eq(table.channelId, channelId));
}

/** A boolean column as a JSON boolean. */
function flag(column: SQLiteColumn): SQL {
  return sql`json(case when ${column} then 'true' else 'false' end)`;
}
