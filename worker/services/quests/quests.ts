import { and, eq, not, sql } from "drizzle-orm";
import { panels } from "#db/schema/panels.ts";
import { questReports, type QuestRow, quests } from "#db/schema/engagement/quests.ts";
import { wonRace, Failure, LostRace, notFound } from "#worker/lib/errors.ts";
import { type QuestInput, type QuestQuery, toQuest } from "./schemas.ts";
import {
  commitIfUnchanged,
  type Ctx,
  type NewEvent,
  newRow,
  nextVersion,
  ownRow,
  requireMatch,
  updateRow,
  whereVersion,
} from "#worker/services/core/context.ts";
import { equalTo, type ListPage, listRows, sliceOf, tableList } from "#worker/services/core/listing.ts";
import { newRaffle } from "./raffles.ts";
import { inQuest } from "#worker/services/core/named-references.ts";
import { commitReferencing, newReferences, type Reference, referencesExist, withReferences } from "#worker/services/core/references.ts";
import { requireOwnSite } from "#worker/services/sites/current-site.ts";
import { cancelActionsOf } from "#worker/services/schedule/derived.ts";
import { isManaged, requireChannelAdmin } from "./channel-admins.ts";
import { scheduleQuest } from "./times.ts";

/** The `message` for an invalid quest; the issues name the fields. */
export const INVALID_QUEST = "Invalid quest";

const questList = tableList<QuestRow>({
  table: quests,
  rows: (db, slice) => sliceOf(db.select().from(quests).$dynamic(), slice),
  sort: { modified: quests.modified, created: quests.created, title: quests.title },
  search: { title: quests.title, description: quests.description },
});

const PROPERTIES = {
  _id: quests.id,
  title: quests.title,
  description: quests.description,
  rewardType: quests.rewardType,
  productId: quests.productId,
  webhookId: quests.webhookId,
  webhookType: quests.webhookType,
  channelIds: quests.channelIds,
  tags: quests.tags,
  timeMinimum: quests.timeMinimum,
  timeMaximum: quests.timeMaximum,
  created: quests.created,
  modified: quests.modified,
};

export async function listQuests(ctx: Ctx, query: QuestQuery): Promise<ListPage<QuestRow>> {
  requireOwnSite(ctx, query.siteId);
  const asksForInternals = query.webhookId !== undefined || query.webhookType !== undefined;
  const visible = asksForInternals ? await isManaged(ctx) : undefined;
  return listRows(ctx, questList, query, eq(quests.siteId, ctx.siteId), ...equalTo(PROPERTIES, query), visible);
}

export async function getQuest(ctx: Ctx, id: string): Promise<QuestRow> {
  const [quest] = await ctx.db
    .select()
    .from(quests)
    .where(ownRow(ctx, quests, id));
  if (!quest) throw notFound("Quest not found");
  return quest;
}

export async function createQuest(ctx: Ctx, input: QuestInput): Promise<QuestRow> {
  requireOwnSite(ctx, input.siteId);
  await requireChannelAdmin(ctx, input.channelIds);
  const raffle = input.rewardType === "raffle" ? await newRaffle(ctx.env) : NO_RAFFLE;
  const quest: QuestRow = { ...newRow(ctx), ...columnsOf(input), ...raffle, raffleDraw: null };
  const references = inQuest(quest);
  const changes = [ctx.db.insert(quests).values(quest), ...(await scheduleQuest(ctx, quest, null))];
  await withQuestReferences(ctx, references, () => commitReferencing(ctx, references, changes, questEvent(ctx, "created", quest)));
  return quest;
}

/** Replaces a quest; a raffle keeps its seed and its result. The caller must administer the quest's old and new channels. */
export async function replaceQuest(ctx: Ctx, id: string, input: QuestInput): Promise<QuestRow> {
  requireOwnSite(ctx, input.siteId);
  const current = await getQuest(ctx, id);
  await requireChannelAdmin(ctx, current.channelIds);
  await requireChannelAdmin(ctx, input.channelIds);
  const raffle = input.rewardType === "raffle" && current.raffleSeed === null ? await newRaffle(ctx.env) : {};
  const next: QuestRow = { ...current, ...columnsOf(input), ...raffle, ...nextVersion(ctx, current) };
  const references = newReferences(inQuest(next), inQuest(current));
  const change = updateRow(ctx, quests, current, next, referencesExist(ctx, references));
  const changes = [change, ...(await scheduleQuest(ctx, next, current))];
  await withQuestReferences(ctx, references, () => commitIfUnchanged(ctx, changes, questEvent(ctx, "updated", next)));
  return next;
}

/** Deletes a quest that no panel shows, with its reports. Its claims stay. */
export async function deleteQuest(ctx: Ctx, id: string): Promise<QuestRow> {
  const [[current], usingPanels] = await ctx.db.batch([
    ctx.db
      .select()
      .from(quests)
      .where(ownRow(ctx, quests, id)),
    panelsWith(ctx, id),
  ]);
  if (!current) throw notFound("Quest not found");
  await requireChannelAdmin(ctx, current.channelIds);
  requireMatch(ctx, current);
  if (usingPanels.length > 0) throw questInUse(usingPanels);
  const change = ctx.db.delete(quests).where(and(whereVersion(ctx, quests, current), not(sql`exists ${panelsWith(ctx, id)}`)));
  const deleteReports = ctx.db.delete(questReports).where(and(eq(questReports.siteId, ctx.siteId), eq(questReports.questId, id)));
  const changes = [change, deleteReports, ...(await cancelActionsOf(ctx, id))];
  if (await wonRace(() => commitIfUnchanged(ctx, changes, questEvent(ctx, "deleted", current)))) return current;
  // A panel was added concurrently, or the quest was changed.
  const addedPanels = await panelsWith(ctx, id);
  throw addedPanels.length > 0 ? questInUse(addedPanels) : new LostRace();
}

/** Runs a write with references; if one doesn't exist, throws a 400 with the message that integrators rely on. */
async function withQuestReferences<T>(ctx: Ctx, references: Reference[], write: () => Promise<T>): Promise<T> {
  try {
    return await withReferences(ctx, references, write);
  } catch (error) {
    if (error instanceof Failure && error.code === "invalid_request" && error.issues)
      throw new Failure("invalid_request", INVALID_QUEST, { issues: error.issues });
    throw error;
  }
}

function panelsWith(ctx: Ctx, questId: string) {
  const listed = sql`select json_extract(value, '$.quest_id') from json_each(${panels.renderer}, '$.quests')`;
  return ctx.db
    .select({ id: panels.id, name: panels.panelName })
    .from(panels)
    .where(and(eq(panels.siteId, ctx.siteId), sql`${questId} in (${listed})`))
    .limit(MAX_PANELS);
}

/** The maximum number of panels named in the error. */
const MAX_PANELS = 20;

function questInUse(usingPanels: { id: string; name: string }[]): Failure {
  const issues = usingPanels.map(({ id, name }) => ({ path: `panels.${id}`, message: name }));
  return new Failure("conflict", "Panels show this quest; remove it from them first", { issues });
}

const NO_RAFFLE = { raffleSeed: null, raffleCommitment: null };

function columnsOf(input: QuestInput) {
  const { title, description, rewardDescription, rewardImage, rewardType, productId, claimedMessage, timeMinimum, timeMaximum } = input;
  const { webhookId, webhookType, webhookValue, actions, tags, claimCost, rewardAmount } = input;
  return {
    title,
    description,
    rewardDescription,
    rewardImage,
    rewardType,
    productId,
    claimCost,
    rewardAmount,
    claimedMessage,
    timeMinimum,
    timeMaximum,
    webhookId,
    webhookType,
    webhookValue,
    actions,
    tags,
    regions: [...new Set(input.regions)],
    channelIds: [...new Set(input.channelIds)],
  };
}

export function questEvent(ctx: Ctx, change: "created" | "updated" | "deleted" | "opened" | "ended", quest: QuestRow): NewEvent {
  return { type: `quest.${change}`, resource: `quest/${quest.id}`, data: toQuest(quest, true, ctx.now) };
}
