import { and, eq, getTableColumns, inArray, ne, type SQL, sql } from "drizzle-orm";
import type { BatchItem } from "drizzle-orm/batch";
import { accounts } from "#db/schema/accounts.ts";
import { accountEntitlements } from "#db/schema/commerce/entitlements.ts";
import { subscriptions } from "#db/schema/commerce/subscriptions.ts";
import { type ClaimRow, claims, type QuestRow, quests } from "#db/schema/engagement/quests.ts";
import { planClaimMoney, requireBalance } from "./claim-money.ts";
import { chargedIn, initialStatus, transitionError } from "./claim-state.ts";
import { conflict, type Failure, notFound, rejectDuplicate } from "#worker/lib/errors.ts";
import { phaseOf } from "#worker/services/quests/quest-rules.ts";
import { isSiteAdmin } from "#worker/lib/roles.ts";
import { CLAIM_FIELDS, type ClaimMove, type ClaimQuery, toClaimStatus } from "./schemas.ts";
import type { QuestProgress } from "#worker/services/quests/schemas.ts";
import {
  type Actor,
  commitIfUnchanged,
  type Ctx,
  type NewEvent,
  newRow,
  nextVersion,
  ownRow,
  updateRow,
  whereVersion,
} from "#worker/services/core/context.ts";
import { HELD_TWICE, planGrants, type Planned } from "#worker/services/subscriptions/entitlements.ts";
import { equalTo, type ListPage, listRows, sliceOf, tableList } from "#worker/services/core/listing.ts";
import { pickFields } from "#worker/services/core/fields.ts";
import { insertEventsForRows } from "#worker/services/core/outbox.ts";
import { claimedAccount, progressWith, selectReports } from "#worker/services/quests/progress.ts";

const NOT_IN_REGION = "The reward is not available in your region";
const ALREADY_CLAIMED = "The reward of this quest has already been claimed";

const claimList = tableList<ClaimRow>({
  table: claims,
  rows: (db, slice) => sliceOf(db.select().from(claims).$dynamic(), slice),
  sort: { modified: claims.modified, created: claims.created, status: claims.status },
  search: { productId: claims.productId, message: claims.message },
});

const PROPERTIES = {
  _id: claims.id,
  questId: claims.questId,
  accountId: claims.accountId,
  productId: claims.productId,
  rewardType: claims.rewardType,
  status: claims.status,
  created: claims.created,
  modified: claims.modified,
};

/** Lists the site's claims; callers who don't manage the site see only their own. */
export async function listClaims(ctx: Ctx, query: ClaimQuery): Promise<ListPage<ClaimRow>> {
  return listRows(ctx, claimList, query, eq(claims.siteId, ctx.siteId), await visible(ctx), ...equalTo(PROPERTIES, query));
}

export async function getClaim(ctx: Ctx, id: string): Promise<ClaimRow> {
  const [claim] = await ctx.db
    .select()
    .from(claims)
    .where(and(ownRow(ctx, claims, id), await visible(ctx)));
  if (!claim) throw notFound("Claim not found");
  return claim;
}

/** Claims the reward of a quest that the caller has completed, once; `country` is where the request came from. */
export async function claimQuest(ctx: Ctx, questId: string, country: string | undefined): Promise<ClaimRow> {
  const accountId = claimedAccount(ctx);
  const productId = sql`(select ${quests.productId} from ${quests} where ${ownRow(ctx, quests, questId)})`;
  const [[quest], reports, [existing], [sku], held] = await ctx.db.batch([
    ctx.db
      .select()
      .from(quests)
      .where(ownRow(ctx, quests, questId)),
    selectReports(ctx, [questId], accountId),
    ctx.db
      .select({ id: claims.id })
      .from(claims)
      .where(claimOf(ctx, questId, accountId)),
    selectSku(ctx, productId),
    selectHeld(ctx, sql`${accountId}`, productId),
  ]);
  if (!quest) throw notFound("Quest not found");
  if (existing) throw conflict(ALREADY_CLAIMED);
  const error = notClaimable(ctx, quest) ?? incomplete(await progressWith(ctx, quest, accountId, reports));
  if (error) throw error;
  const isAmount = quest.productId === null && quest.rewardAmount > 0;
  const status = initialStatus({ ...quest, country, isSku: sku !== undefined, isAmount });
  const claim: ClaimRow = {
    ...newRow(ctx),
    questId,
    accountId,
    productId: quest.productId,
    rewardType: quest.rewardType,
    status,
    message: status === "ERROR_REGION" ? NOT_IN_REGION : quest.claimedMessage,
    cost: quest.claimCost,
    charged: chargedIn(status, quest.claimCost),
    rewardAmount: quest.rewardAmount,
    drawn: false,
  };
  const { webhookId, webhookType, webhookValue } = quest;
  const event: NewEvent<"quest.claimed"> = {
    type: "quest.claimed",
    resource: `claimstatus/${claim.id}`,
    data: { ...toClaimStatus(claim), webhookId, webhookType, webhookValue },
  };
  const grants = status === "SUCCESS" ? grantsOf(ctx, claim, held) : NOTHING;
  const money = await planClaimMoney(ctx, { ...claim, charged: 0 }, claim);
  const changes = [requireUnchanged(ctx, quest), ctx.db.insert(claims).values(claim), ...grants.changes, ...money];
  const write = () => requireBalance(() => rejectGrantedTwice(() => commitIfUnchanged(ctx, changes, event, ...grants.events)));
  await rejectDuplicate("claims.site_id, claims.quest_id, claims.account_id", ALREADY_CLAIMED, write);
  return claim;
}

/** Changes a claim's status; with SUCCESS, a prize that is a sku of the site is granted. */
export async function updateClaim(ctx: Ctx, id: string, { status, message }: ClaimMove): Promise<ClaimRow> {
  const columnOf = (column: typeof claims.productId | typeof claims.accountId) =>
    sql`(select ${column} from ${claims} where ${ownRow(ctx, claims, id)})`;
  const [[current], [account], [sku], held] = await ctx.db.batch([
    ctx.db
      .select()
      .from(claims)
      .where(ownRow(ctx, claims, id)),
    ctx.db
      .select({ id: accounts.id })
      .from(accounts)
      .where(and(eq(accounts.siteId, ctx.siteId), eq(accounts.id, columnOf(claims.accountId)))),
    selectSku(ctx, columnOf(claims.productId)),
    selectHeld(ctx, columnOf(claims.accountId), columnOf(claims.productId)),
  ]);
  if (!current) throw notFound("Claim not found");
  const charged = chargedIn(status, current.cost);
  const next: ClaimRow = { ...current, status, charged, message: message ?? current.message, ...nextVersion(ctx, current) };
  const error = transitionError(current, status) ?? (account ? null : "The account no longer exists");
  if (error !== null) throw conflict(error);
  const isGranted = status === "SUCCESS" && current.rewardType === "prize" && sku !== undefined;
  const grants = isGranted ? grantsOf(ctx, next, held) : NOTHING;
  const change = updateRow(ctx, claims, current, next);
  const event = claimUpdated(next);
  const changes = [change, ...grants.changes, ...(await planClaimMoney(ctx, current, next))];
  await requireBalance(() => rejectGrantedTwice(() => commitIfUnchanged(ctx, changes, event, ...grants.events)));
  return next;
}

/** Ends the open claims of an account that is being deleted; the claims stay, so that a raffle can be verified. */
export function endClaims(ctx: Ctx, accountId: string): BatchItem<"sqlite"> {
  return ctx.db
    .update(claims)
    .set({ status: "ERROR", message: null, modified: ctx.now, version: sql`${claims.version} + 1` })
    .where(openClaims(ctx, accountId));
}

/** Emits events for the claims that `endClaims` is about to end. */
export function insertEndedClaimEvents(ctx: Ctx, actor: Actor, accountId: string): BatchItem<"sqlite"> {
  const data = { ...pickFields(getTableColumns(claims), CLAIM_FIELDS), status: "ERROR", message: null, modified: ctx.now };
  return insertEventsForRows(ctx, actor, {
    type: "claim.updated",
    area: "claimstatus",
    table: claims,
    where: openClaims(ctx, accountId),
    data,
  });
}

function openClaims(ctx: Ctx, accountId: string): SQL | undefined {
  return and(eq(claims.siteId, ctx.siteId), eq(claims.accountId, accountId), inArray(claims.status, ["PENDING", "ERROR_REGION"]));
}

async function visible(ctx: Ctx): Promise<SQL | undefined> {
  const actor = await ctx.caller();
  return actor.kind === "account" && !isSiteAdmin(actor.roles, "read") ? eq(claims.accountId, actor.id) : undefined;
}

function claimOf(ctx: Ctx, questId: string, accountId: string): SQL | undefined {
  return and(eq(claims.siteId, ctx.siteId), eq(claims.questId, questId), eq(claims.accountId, accountId));
}

function selectSku(ctx: Ctx, sku: SQL) {
  return ctx.db
    .select({ sku: subscriptions.sku })
    .from(subscriptions)
    .where(and(eq(subscriptions.siteId, ctx.siteId), eq(subscriptions.sku, sku)));
}

function selectHeld(ctx: Ctx, accountId: SQL, sku: SQL) {
  return ctx.db
    .select({ sku: accountEntitlements.sku })
    .from(accountEntitlements)
    .where(
      and(
        eq(accountEntitlements.siteId, ctx.siteId),
        eq(accountEntitlements.accountId, accountId),
        eq(accountEntitlements.sku, sku),
        ne(accountEntitlements.status, "cancelled"),
      ),
    );
}

const NOTHING: Planned = { changes: [], events: [] };

function grantsOf(ctx: Ctx, { id, accountId, productId }: ClaimRow, held: { sku: string }[]): Planned {
  const grant = {
    accountId,
    skus: productId === null ? [] : [productId],
    grantedMethod: "customerService" as const,
    source: `claim/${id}`,
  };
  return planGrants(
    ctx,
    grant,
    held.map(({ sku }) => sku),
  );
}

function rejectGrantedTwice<T>(write: () => Promise<T>): Promise<T> {
  return rejectDuplicate(HELD_TWICE, "Another request granted the reward at the same time; try again", write);
}

/** A no-op update that affects its row only if the quest is unchanged since it was read: nobody enters a raffle while it is drawn. */
function requireUnchanged(ctx: Ctx, quest: QuestRow): BatchItem<"sqlite"> {
  return ctx.db
    .update(quests)
    .set({ version: quest.version })
    .where(whereVersion(ctx, quests, quest));
}

function notClaimable(ctx: Ctx, quest: QuestRow): Failure | undefined {
  const phase = phaseOf(quest, ctx.now);
  if (phase === "early") return conflict("The quest has not started");
  if (phase === "over") return conflict("The quest has ended");
  return quest.rewardType === "raffle" && quest.raffleDraw ? conflict("The raffle has been drawn") : undefined;
}

function incomplete({ complete, actions }: QuestProgress): Failure | undefined {
  if (complete) return undefined;
  const done = actions.filter((action) => action.done).length;
  return conflict(`The quest is not complete: ${done} of ${actions.length} actions are done`);
}

function claimUpdated(claim: ClaimRow): NewEvent {
  return { type: "claim.updated", resource: `claimstatus/${claim.id}`, data: toClaimStatus(claim) };
}
