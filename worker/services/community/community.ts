import { and, desc, eq, gte, lt, type SQL, sql } from "drizzle-orm";
import { type AccountRow, accounts } from "#db/schema/accounts.ts";
import { accessCodes } from "#db/schema/commerce/access-codes.ts";
import { charges } from "#db/schema/commerce/billing.ts";
import { accountEntitlements } from "#db/schema/commerce/entitlements.ts";
import { subscriptions } from "#db/schema/commerce/subscriptions.ts";
import { pages } from "#db/schema/pages.ts";
import { forbidden, notFound } from "#worker/lib/errors.ts";
import { managedChannels, managesPage } from "#worker/lib/roles.ts";
import type { MemberEntitlementRow, MembersQuery } from "./schemas.ts";
import { accountColumns } from "#worker/services/accounts/columns.ts";
import { ACCOUNT_TEXTS } from "#worker/services/accounts/account-rows.ts";
import { callerAccount, type Ctx, ownRow } from "#worker/services/core/context.ts";
import { folded } from "#db/search-text.ts";
import { contains, type ListPage, listRows, sliceOf, tableList } from "#worker/services/core/listing.ts";
import { grantSubscription, subscriptionsOf } from "#worker/services/subscriptions/subscriptions.ts";

const MAX_ENTITLEMENTS = 200;

const memberList = tableList<AccountRow>({
  table: accounts,
  rows: (db, slice) => sliceOf(db.select(accountColumns).from(accounts).$dynamic(), slice),
  sort: { created: accounts.created, name: accounts.normalizedName },
  search: {},
});

/** Lists the members visible to the caller: all for a site admin, those of their channels for a channel admin. */
export async function listMembers(ctx: Ctx, query: MembersQuery): Promise<ListPage<AccountRow>> {
  const { channelId, timeStart, timeEnd } = query.filter ?? {};
  const channels = await visibleChannels(ctx, channelId);
  const page = await listRows(
    ctx,
    memberList,
    query,
    eq(accounts.siteId, ctx.siteId),
    channels && holdsGateSku(ctx, channels),
    timeStart === undefined ? undefined : gte(accounts.created, timeStart),
    timeEnd === undefined ? undefined : lt(accounts.created, timeEnd),
    matchesSearch(ctx, query.searchBy, query.searchQuery),
  );
  return { ...page, searchFields: [query.searchBy] };
}

/** The channels whose members to list; undefined for the whole site. */
async function visibleChannels(ctx: Ctx, channelId: string | undefined): Promise<string[] | undefined> {
  const { roles } = await callerAccount(ctx);
  if (channelId !== undefined) {
    if (!managesPage(roles, channelId, "read")) throw forbidden("No permission for this channel");
    return [channelId];
  }
  const managed = managedChannels(roles);
  return managed === "all" ? undefined : managed;
}

/** Matches accounts that hold one of the skus in these channels' gates. */
function holdsGateSku(ctx: Ctx, channelIds: string[]): SQL {
  return sql`${accounts.id} in (select held.account_id from ${accountEntitlements} held, ${pages} page, json_each(page.data, '$.gate.skus') key
    where held.site_id = ${ctx.siteId} and held.status <> 'cancelled' and held.sku = key.value
    and page.site_id = ${ctx.siteId} and page.id in (select value from json_each(${JSON.stringify(channelIds)})))`;
}

/** The search condition; without text, `entitlements` and the like match every account that has one. */
function matchesSearch(ctx: Ctx, searchBy: MembersQuery["searchBy"], text: string | undefined): SQL | undefined {
  switch (searchBy) {
    case "accountInfo":
      return contains(ACCOUNT_TEXTS, text);
    case "entitlements":
      return holdsMatching(ctx, sql`held.status <> 'cancelled'`, text);
    case "paidEntitlements":
      return holdsMatching(ctx, sql`held.granted_method = 'purchased'`, text);
    case "accessCode":
      return sql`${accounts.id} in (select code.account_id from ${accessCodes} code where code.site_id = ${ctx.siteId}
        and code.account_id is not null ${text ? sql`and code.access_code = ${text}` : sql``})`;
    case "receiptNumber":
      return sql`${accounts.id} in (select charge.account_id from ${charges} charge where charge.site_id = ${ctx.siteId}
        and charge.receipt_number ${text ? sql`in (${text}, ${text.toUpperCase()})` : sql`is not null`})`;
  }
}

function holdsMatching(ctx: Ctx, which: SQL, text: string | undefined): SQL {
  const named = text
    ? sql`and (${contains([folded(sql`held.sku`)], text)} or held.sku in (select offered.sku from ${subscriptions} offered
        where offered.site_id = ${ctx.siteId} and ${contains([folded(sql`offered.name`)], text)}))`
    : sql``;
  return sql`${accounts.id} in (select held.account_id from ${accountEntitlements} held where held.site_id = ${ctx.siteId} and ${which} ${named})`;
}

/** One member with current and then former entitlements. */
export async function getMember(ctx: Ctx, id: string): Promise<{ account: AccountRow; entitlements: MemberEntitlementRow[] }> {
  const [[account], rows] = await ctx.db.batch([
    ctx.db
      .select(accountColumns)
      .from(accounts)
      .where(ownRow(ctx, accounts, id)),
    ctx.db
      .select()
      .from(accountEntitlements)
      .where(and(eq(accountEntitlements.siteId, ctx.siteId), eq(accountEntitlements.accountId, id)))
      .orderBy(sql`${accountEntitlements.status} = 'cancelled'`, desc(accountEntitlements.created), desc(accountEntitlements.id))
      .limit(MAX_ENTITLEMENTS),
  ]);
  if (!account) throw notFound("Account not found");
  const offered = await subscriptionsOf(
    ctx,
    rows.map((row) => row.sku),
  );
  const entitlements = rows.map((row) => {
    const subscription = offered.get(row.sku);
    return { ...row, name: subscription?.name ?? null, recurrence: subscription?.recurrence ?? null };
  });
  return { account, entitlements };
}

/** Grants a member a subscription. */
export async function grantToMember(ctx: Ctx, input: { accountId: string; subscriptionId: string }): Promise<{ success: true }> {
  await grantSubscription(ctx, input);
  return { success: true };
}
