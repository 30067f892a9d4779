import { and, eq, isNotNull, sql } from "drizzle-orm";
import type { BatchItem } from "drizzle-orm/batch";
import { accounts, globalAccounts, sites } from "../../db/schema/index.ts";
import type { z } from "@hono/zod-openapi";
import { newId } from "../lib/ids.ts";
import type { AccountRow, GlobalSite } from "../routes/accounts/schemas.ts";
import type { Ctx } from "./context.ts";
import { type ListPage, type ListQuery, listRows, type ListSpec, sliceOf } from "./listing.ts";
import { administersSite } from "./roles.ts";

/**
 * Whoever administers several sites under one e-mail is one global account; its password starts as that of the first site.
 * These statements go after a change of accounts (as they are now, then as they were), in its batch, and bring the links up to date.
 */
export function linkGlobalAccounts(ctx: Ctx, ...changed: Pick<AccountRow, "email" | "roles">[]): BatchItem<"sqlite">[] {
  const emails = new Set(changed.filter((account) => account.roles.length > 0).map((account) => account.email));
  return [...emails].flatMap((email) => linkEmail(ctx, email));
}

function linkEmail(ctx: Ctx, email: string): BatchItem<"sqlite">[] {
  const admins = sql`from ${accounts} where email = ${email} and ${administersSite("read")}`;
  return [
    ctx.db
      .insert(globalAccounts)
      .select(
        sql`select ${newId(ctx.now)}, email, password_hash, 1, ${ctx.now}, ${ctx.now}, 1 ${admins} and password_hash is not null
          and (select count(*) ${admins}) > 1 order by created, id limit 1`,
      )
      .onConflictDoNothing(),
    ctx.db
      .update(accounts)
      .set({
        globalAccountId: sql`case when ${administersSite("read")} then (select g.id from ${globalAccounts} g where g.email = ${email}) end`,
      })
      .where(eq(accounts.email, email)),
    ctx.db
      .delete(globalAccounts)
      .where(
        and(
          eq(globalAccounts.email, email),
          sql`not exists (select 1 from ${accounts} a where a.global_account_id = ${globalAccounts.id})`,
        ),
      ),
  ];
}

/** Where a global account administers: the account there, and the site. */
export type GlobalSiteRow = z.output<typeof GlobalSite>;

const slug = sql<string>`(select s.slug from ${sites} s where s.id = ${accounts.siteId})`;

const globalSiteList: ListSpec<GlobalSiteRow> = {
  table: accounts,
  id: { by: accounts.id, of: (row) => row._id },
  rows: (db, slice) => sliceOf(db.select({ _id: accounts.id, siteId: accounts.siteId, slug }).from(accounts).$dynamic(), slice),
  sort: { slug: { by: slug, of: (row) => row.slug } },
  defaultDirection: 1,
  search: { slug },
};

/** The sites that the caller's global account administers; for the operator those of every global account. */
export async function listGlobalSites(ctx: Ctx, query: ListQuery): Promise<ListPage<GlobalSiteRow>> {
  const actor = await ctx.caller();
  const whose = actor.kind === "global" ? eq(accounts.globalAccountId, actor.id) : isNotNull(accounts.globalAccountId);
  return listRows(ctx, globalSiteList, query, whose);
}
