import { and, eq, lte, type SQL, sql } from "drizzle-orm";
import type { Db } from "#db/client.ts";
import { type AccountRow, accounts } from "#db/schema/accounts.ts";
import { CsvError, readCsv } from "#worker/lib/csv.ts";
import { invalid, notFound } from "#worker/lib/errors.ts";
import { ID_PATTERN } from "#worker/lib/ids.ts";
import type { BulkTagsIssues } from "./schemas.ts";
import { accountColumns } from "./columns.ts";
import { accountEvent } from "./account-rows.ts";
import { whereVersion, commit, commitIfUnchanged, type Ctx, type NewEvent, nextVersion, ownRow } from "#worker/services/core/context.ts";
import { ctxOf, fromEveryDb } from "#worker/services/core/databases.ts";
import { clip } from "#worker/lib/well-formed.ts";

const MAX_TAGS = 200;
const MAX_TAG_LENGTH = 100;
const MAX_ROWS = 50_000;
/** The most rows and characters of tags written in one statement. */
const BATCH_ROWS = 1_000;
const BATCH_CHARACTERS = 250_000;

/** Replaces an account's tags. */
export function setTags(ctx: Ctx, id: string, tags: string[]): Promise<AccountRow> {
  return changeTags(ctx, id, () => tags);
}

/** Adds tags to those of an account. */
export function addTags(ctx: Ctx, id: string, tags: string[]): Promise<AccountRow> {
  return changeTags(ctx, id, (current) => [...current, ...tags]);
}

/** The operator may omit the site: the account's own site is used. */
async function changeTags(ctx: Ctx, id: string, change: (tags: string[]) => string[]): Promise<AccountRow> {
  const find = (db: Db, which: SQL | undefined) => db.select(accountColumns).from(accounts).where(which);
  const [current] = await (ctx.siteId === ""
    ? fromEveryDb(ctx, (db) => find(db, eq(accounts.id, id)))
    : find(ctx.db, ownRow(ctx, accounts, id)));
  if (!current) throw notFound("Account not found");
  const own = ctx.siteId === "" ? ctxOf(ctx, current.siteId) : ctx;
  const tags = [...new Set(change(current.tags))];
  if (tags.length > MAX_TAGS) throw invalid("tags", TOO_MANY);
  const next: AccountRow = { ...current, tags, ...nextVersion(ctx, current) };
  const update = own.db
    .update(accounts)
    .set({ tags, modified: next.modified, version: next.version })
    .where(whereVersion(own, accounts, current));
  await commitIfUnchanged(own, update, accountEvent("account.tagsUpdated", next));
  return next;
}

const TOO_MANY = `An account has at most ${MAX_TAGS} tags`;

type BulkResult = Pick<BulkTagsIssues, "tagged" | "details">;

/**
 * Adds tags to many accounts from CSV (`account_id`, `tag_name`; a tag_name may be a comma-separated list). Streams the rows and holds at
 * most a thousand in memory. `details` lists the rejected rows; adding is safe to repeat.
 */
export async function addTagsInBulk(ctx: Ctx, csv: AsyncIterable<Uint8Array>): Promise<BulkResult> {
  await ctx.caller();
  const batch = new TagBatch(ctx);
  const rows = readCsv(csv);
  const columns = readHeader((await nextRow(rows, 1)).value);
  try {
    let count = 0;
    for await (const row of rows) {
      if (++count > MAX_ROWS) throw new CsvError(count + 1, `Only the first ${MAX_ROWS} rows were processed`);
      batch.add(row[columns.account] ?? "", row[columns.tag] ?? "", row.length);
      if (batch.full) await batch.write();
    }
  } catch (error) {
    if (!(error instanceof CsvError)) throw error;
    batch.details.push({ accountId: "", message: `Row ${error.row}: ${error.message}` });
  }
  await batch.write();
  return { tagged: batch.tagged.size, details: batch.details };
}

/** Reads the header; an error in it rejects the whole file. */
async function nextRow(rows: AsyncGenerator<string[]>, number: number): Promise<IteratorResult<string[], unknown>> {
  try {
    return await rows.next();
  } catch (error) {
    if (error instanceof CsvError) throw invalid("", `Row ${number}: ${error.message}`);
    throw error;
  }
}

function readHeader(header: unknown): { account: number; tag: number } {
  const names = Array.isArray(header) ? header.map((name) => String(name).trim().toLowerCase()) : [];
  if (names.length !== 2 || !names.includes("account_id") || !names.includes("tag_name")) {
    throw invalid("", "The first row must be the header account_id,tag_name");
  }
  return { account: names.indexOf("account_id"), tag: names.indexOf("tag_name") };
}

/** Rows to be written together, and the results of those already written. */
class TagBatch {
  readonly details: BulkResult["details"] = [];
  readonly tagged = new Set<string>();
  readonly #ctx: Ctx;
  #tags = new Map<string, Set<string>>();
  #characters = 0;

  constructor(ctx: Ctx) {
    this.#ctx = ctx;
  }

  get full(): boolean {
    return this.#tags.size >= BATCH_ROWS || this.#characters >= BATCH_CHARACTERS;
  }

  /** Adds a row, or records why it is rejected. */
  add(accountId: string, list: string, columns: number): void {
    const id = accountId.trim();
    const tags = list.split(",").flatMap((tag) => tag.trim() || []);
    const problem = findProblem(id, tags, columns);
    if (problem !== undefined) {
      this.details.push({ accountId: clip(id, 100), message: problem });
      return;
    }
    const known = this.#tags.get(id) ?? new Set();
    for (const tag of tags) known.add(tag);
    this.#tags.set(id, known);
    this.#characters += list.length;
  }

  /** Writes the waiting rows of accounts that exist and have room, in one commit with its event. */
  async write(): Promise<void> {
    const given = [...this.#tags].map(([id, tags]) => ({ id, tags: [...tags] }));
    this.#tags = new Map();
    this.#characters = 0;
    if (given.length === 0) return;
    const text = JSON.stringify(given);
    const counts = await countMerged(this.#ctx, text);
    const written = given.filter(({ id }) => {
      const count = counts.get(id);
      const fits = count !== undefined && count <= MAX_TAGS;
      if (fits) this.tagged.add(id);
      else this.details.push({ accountId: id, message: count === undefined ? "Account not found" : TOO_MANY });
      return fits;
    });
    if (written.length > 0) await commit(this.#ctx, mergeTags(this.#ctx, text), tagsAdded(this.#ctx, written));
  }
}

function findProblem(id: string, tags: string[], columns: number): string | undefined {
  if (columns !== 2) return `${columns} columns instead of 2; put a list of tags in quotes`;
  if (!ID_PATTERN.test(id)) return "Not an account id: 24 lowercase hex characters";
  if (tags.length === 0) return "No tag given";
  if (tags.some((tag) => tag.length > MAX_TAG_LENGTH)) return `A tag has at most ${MAX_TAG_LENGTH} characters`;
  return undefined;
}

/** How many tags each account would have; accounts that aren't on the site are left out. */
async function countMerged(ctx: Ctx, given: string): Promise<Map<string, number>> {
  const rows = await ctx.db
    .select({ id: accounts.id, count: sql<number>`json_array_length(${merged(sql`accounts.tags`)})`.as("count") })
    .from(accounts)
    .innerJoin(sql`json_each(${given}) given`, sql`given.value ->> 'id' = ${accounts.id}`)
    .where(eq(accounts.siteId, ctx.siteId));
  return new Map(rows.map(({ id, count }) => [id, count]));
}

function mergeTags(ctx: Ctx, given: string) {
  return ctx.db
    .update(accounts)
    .set({ tags: merged(sql`accounts.tags`), modified: ctx.now, version: sql`accounts.version + 1` })
    .from(sql`json_each(${given}) given`)
    .where(
      and(
        eq(accounts.siteId, ctx.siteId),
        sql`${accounts.id} = given.value ->> 'id'`,
        lte(sql`json_array_length(${merged(sql`accounts.tags`)})`, MAX_TAGS),
      ),
    );
}

/** The account's tags followed by the given ones, without duplicates, in their original order. */
function merged(tags: SQL): SQL<string[]> {
  return sql`(select json_group_array(tag) from (select tag from (
    select value as tag, key as place from json_each(${tags})
    union all select value, ${MAX_TAGS} + key from json_each(given.value, '$.tags')
  ) group by tag order by min(place)))`;
}

function tagsAdded(ctx: Ctx, added: { id: string; tags: string[] }[]): NewEvent {
  const data = { siteId: ctx.siteId, accounts: added.map(({ id, tags }) => ({ _id: id, tags })) };
  return { type: "account.tagsAdded", resource: `site/${ctx.siteId}`, data };
}
