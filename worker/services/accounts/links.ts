import { and, eq, sql } from "drizzle-orm";
import type { BatchItem } from "drizzle-orm/batch";
import { accountLinks, type AccountRow, accounts } from "#db/schema/accounts.ts";
import type { ThirdPartyProvider } from "#db/types.ts";
import { rejectDuplicate } from "#worker/lib/errors.ts";
import { accountColumns } from "./columns.ts";
import type { Ctx } from "#worker/services/core/context.ts";

/** Syncs the index with an account's `thirdPartyAuthProviders`; add it to the batch after the account's own update. */
export function writeLinks(ctx: Ctx, accountId: string, links: ThirdPartyProvider[]): BatchItem<"sqlite">[] {
  const rows = links.map(({ provider, accountId: externalId }) => ({ provider, externalId }));
  return [
    ctx.db.delete(accountLinks).where(and(eq(accountLinks.siteId, ctx.siteId), eq(accountLinks.accountId, accountId))),
    ctx.db
      .insert(accountLinks)
      .select(
        sql`select ${ctx.siteId}, value ->> 'provider', value ->> 'externalId', ${accountId} from json_each(${JSON.stringify(rows)}) where true`,
      ),
  ];
}

/** A 409 if another account of the site has one of the links. */
export function rejectTakenLink<T>(write: () => Promise<T>): Promise<T> {
  return rejectDuplicate(
    "account_links.site_id, account_links.provider, account_links.third_party_account_id",
    "Another account already has this third-party sign-in",
    write,
  );
}

/** The account linked to a third-party identity. */
export async function findLinked(ctx: Ctx, provider: string, thirdPartyAccountId: string): Promise<AccountRow | undefined> {
  const linked = sql`(select l.account_id from ${accountLinks} l where l.site_id = ${ctx.siteId} and l.provider = ${provider}
    and l.third_party_account_id = ${thirdPartyAccountId})`;
  const [account] = await ctx.db
    .select(accountColumns)
    .from(accounts)
    .where(and(eq(accounts.siteId, ctx.siteId), eq(accounts.id, linked)));
  return account;
}
