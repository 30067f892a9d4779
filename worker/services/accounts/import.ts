import { and, eq, getTableColumns, type SQL, sql } from "drizzle-orm";
import type { BatchItem } from "drizzle-orm/batch";
import type { SQLiteTable } from "drizzle-orm/sqlite-core";
import { type AccountRow, accounts, userProfiles } from "#db/schema/accounts.ts";
import { Failure } from "#worker/lib/errors.ts";
import { type Actor, commit, type Ctx, newRow, ownRows } from "#worker/services/core/context.ts";
import { insertEventsForRows } from "#worker/services/core/outbox.ts";
import { isPlaceholderEmail, nameColumns, newAccount, normalizeEmail, PLACEHOLDER_DOMAIN, rejectTakenEmail } from "./account-rows.ts";
import { heldSkus } from "./columns.ts";
import type { ImportedAccount, ImportResult } from "./import-schemas.ts";
import { Email, PersonName } from "./schemas.ts";

interface Person {
  email: string;
  name: string;
}

interface Rename extends ReturnType<typeof nameColumns> {
  id: string;
}

/** Creates the accounts that don't exist, and renames those that do: two round trips for any number. An invalid entry rejects only itself. */
export async function importAccounts(ctx: Ctx, entries: ImportedAccount[], isRetry = false): Promise<ImportResult[]> {
  const checked = checkEntries(entries);
  const people = checked.filter((entry) => typeof entry !== "string");
  const existing = await findByEmail(ctx, people);
  const added = await Promise.all(people.flatMap((person) => (existing.has(person.email) ? [] : newMember(ctx, person))));
  const renamed = people.flatMap(({ email, name }): Rename[] => {
    const account = existing.get(email);
    return account === undefined || account.name === name ? [] : [{ id: account.id, ...nameColumns(name) }];
  });
  try {
    await write(ctx, added, renamed);
  } catch (error) {
    // Another request created one of them in the meantime: rename it instead.
    if (isRetry || !(error instanceof Failure && error.code === "conflict")) throw error;
    return importAccounts(ctx, entries, true);
  }
  const created = new Map(added.map(({ email, id }) => [email, id]));
  const renamedIds = new Set(renamed.map(({ id }) => id));
  return checked.map((entry) => {
    if (typeof entry === "string") return { _id: null, outcome: "rejected", message: entry };
    const id = existing.get(entry.email)?.id;
    if (id === undefined) return { _id: created.get(entry.email) ?? null, outcome: "created", message: null };
    return { _id: id, outcome: renamedIds.has(id) ? "updated" : "unchanged", message: null };
  });
}

/** Each entry in the form that is stored, or why it is rejected. */
function checkEntries(entries: ImportedAccount[]): (Person | string)[] {
  const seen = new Set<string>();
  return entries.map((entry) => {
    const email = normalizeEmail(entry.email);
    const name = PersonName.safeParse(entry.name);
    if (!Email.safeParse(email).success) return "This isn't an email address";
    if (isPlaceholderEmail(email)) return `${PLACEHOLDER_DOMAIN} is reserved for accounts without an email address`;
    if (!name.success) return `The name is invalid: ${name.error.issues[0]?.message ?? "1 to 200 characters in a single line"}`;
    if (seen.has(email)) return "An earlier entry has the same address";
    seen.add(email);
    return { email, name: name.data };
  });
}

async function findByEmail(ctx: Ctx, people: Person[]): Promise<Map<string, { id: string; name: string }>> {
  const emails = JSON.stringify(people.map(({ email }) => email));
  const rows = await ctx.db
    .select({ id: accounts.id, email: accounts.email, name: accounts.name })
    .from(accounts)
    .where(and(eq(accounts.siteId, ctx.siteId), sql`${accounts.email} in (select value from json_each(${emails}))`));
  return new Map(rows.map(({ email, ...account }) => [email, account]));
}

/** Without any credentials there is nothing that could belong to somebody else. */
async function newMember(ctx: Ctx, person: Person): Promise<AccountRow> {
  return { ...(await newAccount(ctx, { ...person, marketingOptin: false }, [])), trusted: true };
}

async function write(ctx: Ctx, added: AccountRow[], renamed: Rename[]): Promise<void> {
  const actor = await ctx.caller();
  const changes = [
    ...(added.length > 0 ? insertAll(ctx, actor, added) : []),
    ...(renamed.length > 0 ? renameAll(ctx, actor, renamed) : []),
  ];
  if (changes.length > 0) await rejectTakenEmail(() => commit(ctx, changes));
}

function insertAll(ctx: Ctx, actor: Actor, added: AccountRow[]): BatchItem<"sqlite">[] {
  const profiles = added.map(({ id, name }) => ({ ...newRow(ctx), accountId: id, name }));
  return [
    ctx.db.insert(accounts).select(rowsOf(accounts, added)),
    ctx.db.insert(userProfiles).select(rowsOf(userProfiles, profiles)),
    accountEvents(ctx, actor, "new_account", added),
  ];
}

function renameAll(ctx: Ctx, actor: Actor, renamed: Rename[]): BatchItem<"sqlite">[] {
  const given = sql`json_each(${JSON.stringify(renamed)}) given`;
  const name = sql<string>`given.value ->> 'name'`;
  return [
    ctx.db
      .update(accounts)
      .set({
        name,
        normalizedName: sql`given.value ->> 'normalizedName'`,
        modified: ctx.now,
        version: sql`${accounts.version} + 1`,
      })
      .from(given)
      .where(and(eq(accounts.siteId, ctx.siteId), sql`${accounts.id} = given.value ->> 'id'`)),
    ctx.db
      .update(userProfiles)
      .set({ name, modified: ctx.now, version: sql`${userProfiles.version} + 1` })
      .from(given)
      .where(and(eq(userProfiles.siteId, ctx.siteId), sql`${userProfiles.accountId} = given.value ->> 'id'`)),
    accountEvents(ctx, actor, "account.updated", renamed),
  ];
}

/** All rows in one parameter, because a statement has at most a hundred. */
function rowsOf(table: SQLiteTable, rows: Record<string, unknown>[]): SQL {
  const columns = Object.entries(getTableColumns(table));
  const stored = rows.map((row) =>
    Object.fromEntries(columns.map(([key, column]) => [key, row[key] === null ? null : column.mapToDriverValue(row[key])])),
  );
  const values = sql.join(
    columns.map(([key]) => sql`value ->> ${key}`),
    sql`, `,
  );
  return sql`select ${values} from json_each(${JSON.stringify(stored)}) where true`;
}

/** An event for each account as it is after the changes. */
function accountEvents(ctx: Ctx, actor: Actor, type: "new_account" | "account.updated", changed: { id: string }[]): BatchItem<"sqlite"> {
  const ids = changed.map(({ id }) => id);
  return insertEventsForRows(ctx, actor, {
    type,
    area: "account",
    table: accounts,
    where: ownRows(ctx, accounts, ids),
    data: {
      _id: accounts.id,
      siteId: accounts.siteId,
      uid: accounts.id,
      globalAccountID: accounts.globalAccountId,
      email: accounts.email,
      emailVerified: sql`json(iif(${accounts.emailVerified} is null, 'false', 'true'))`,
      name: accounts.name,
      normalizedName: accounts.normalizedName,
      hash: accounts.emailHash,
      lastLogin: accounts.lastLogin,
      thirdPartyAuthProviders: accounts.thirdPartyAuthProviders,
      roles: accounts.roles,
      subscriptions: sql`json(${heldSkus})`,
      marketingOptin: accounts.marketingOptin,
      leaderboardHidden: accounts.leaderboardHidden,
      tags: accounts.tags,
      created: accounts.created,
      modified: accounts.modified,
    },
  });
}
