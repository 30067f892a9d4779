import { and, eq, getTableColumns, type SQL, sql } from "drizzle-orm";
import type { BatchItem } from "drizzle-orm/batch";
import type { SQLiteColumn } from "drizzle-orm/sqlite-core";
import { automationRules, rulePauses } from "#db/schema/automation-rules.ts";
import { calendarEvents } from "#db/schema/calendar.ts";
import { outputs } from "#db/schema/streams/outputs.ts";
import { chatBans, chatQueue, chatRooms, chatSettings } from "#db/schema/engagement/chat.ts";
import { streams } from "#db/schema/streams/streams.ts";
import { type Actor, type Ctx, ownRow } from "#worker/services/core/context.ts";
import { RULE_FIELDS } from "#worker/services/automation-rules/schemas.ts";
import { pickFields } from "#worker/services/core/fields.ts";
import { insertEventsForRows } from "#worker/services/core/outbox.ts";
import { CALENDAR_EVENT_FIELDS } from "#worker/services/events/schemas.ts";
import { deleteQuestionsOfChannel } from "#worker/services/qna/erasure.ts";
import { deleteRundownsOfChannel } from "#worker/services/rundowns/rundowns.ts";
import { cancelBroadcastsOn } from "#worker/services/schedule/derived.ts";
import { deleteStatsOfChannel } from "#worker/services/stats/record.ts";
import { STREAM_FIELDS } from "#worker/services/streams/schemas.ts";

/** The statements, for the batch that deletes a channel, that detach or delete what references it, with an event for each row. */
export async function detachChannel(ctx: Ctx, channelId: string): Promise<BatchItem<"sqlite">[]> {
  const actor = await ctx.caller();
  return [
    ...detachCalendar(ctx, actor, channelId),
    ...detachStreams(ctx, actor, channelId),
    ...deleteRules(ctx, actor, channelId),
    ctx.db.delete(rulePauses).where(ofThisChannel(ctx, rulePauses, channelId)),
    ...deleteQuestionsOfChannel(ctx, channelId),
    ...deleteChat(ctx, channelId),
    ...deleteStatsOfChannel(ctx, channelId),
    ...deleteRundownsOfChannel(ctx, channelId),
    ...cancelBroadcastsOn(ctx, actor, channelId),
    ctx.db.delete(outputs).where(ofThisChannel(ctx, outputs, channelId)),
  ];
}

/** The channel's calendar events become events of the site. */
function detachCalendar(ctx: Ctx, actor: Actor, channelId: string): BatchItem<"sqlite">[] {
  const where = ofThisChannel(ctx, calendarEvents, channelId);
  const data = { ...pickFields(getTableColumns(calendarEvents), CALENDAR_EVENT_FIELDS), channelId: null, modified: ctx.now };
  const eventInsert = insertEventsForRows(ctx, actor, { type: "event.updated", area: "event", table: calendarEvents, where, data });
  const detach = ctx.db
    .update(calendarEvents)
    .set({ channelId: null, modified: ctx.now, version: sql`${calendarEvents.version} + 1` })
    .where(where);
  return [eventInsert, detach];
}

/** The channel's streams, none of which is live, stay without a channel. */
function detachStreams(ctx: Ctx, actor: Actor, channelId: string): BatchItem<"sqlite">[] {
  const where = ofThisChannel(ctx, streams, channelId);
  const columns = pickFields(getTableColumns(streams), STREAM_FIELDS);
  const data = { ...columns, channelId: null, streamKey: null, isLive: false, liveSince: null, modified: ctx.now };
  const eventInsert = insertEventsForRows(ctx, actor, { type: "stream.updated", area: "stream", table: streams, where, data });
  const detach = ctx.db
    .update(streams)
    .set({ channelId: null, modified: ctx.now, version: sql`${streams.version} + 1` })
    .where(where);
  return [eventInsert, detach];
}

/** The channel's rules are deleted: without a channel they would apply to all channels. */
function deleteRules(ctx: Ctx, actor: Actor, channelId: string): BatchItem<"sqlite">[] {
  const where = ofThisChannel(ctx, automationRules, channelId);
  const eventInsert = insertEventsForRows(ctx, actor, {
    type: "personalization.ruleDeleted",
    area: "rule",
    table: automationRules,
    where,
    data: pickFields(getTableColumns(automationRules), RULE_FIELDS),
  });
  return [eventInsert, ctx.db.delete(automationRules).where(where)];
}

/** The settings, bans and record of the channel's room, which an effect empties. */
function deleteChat(ctx: Ctx, channelId: string): BatchItem<"sqlite">[] {
  return [
    ctx.db.delete(chatSettings).where(ownRow(ctx, chatSettings, channelId)),
    ctx.db.delete(chatRooms).where(ownRow(ctx, chatRooms, channelId)),
    ctx.db.delete(chatQueue).where(ofThisChannel(ctx, chatQueue, channelId)),
    ctx.db.delete(chatBans).where(ofThisChannel(ctx, chatBans, channelId)),
  ];
}

function ofThisChannel(ctx: Ctx, table: { siteId: SQLiteColumn; channelId: SQLiteColumn }, channelId: string): SQL | undefined {
  return and(eq(table.siteId, ctx.siteId), eq(table.channelId, channelId));
}
