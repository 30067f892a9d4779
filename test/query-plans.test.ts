import { z } from "@hono/zod-openapi";
import { and, eq, getTableName } from "drizzle-orm";
import { beforeAll, describe, expect, test, vi } from "vitest";
import { createDb } from "#db/client.ts";
import { accounts } from "#db/schema/accounts.ts";
import { automationRules } from "#db/schema/automation-rules.ts";
import { questions } from "#db/schema/engagement/questions.ts";
import { overlays } from "#db/schema/overlays.ts";
import { pages } from "#db/schema/pages.ts";
import { administersSite } from "#worker/services/accounts/role-rules.ts";
import { ownRows } from "#worker/services/core/context.ts";
import { Pagination } from "#worker/services/core/list-schemas.ts";
import { validCall } from "./contract-requests.ts";
import { type CallOptions, newSite, type TestSite } from "./harness.ts";
import { type Operation, operationOf, operations } from "./openapi.ts";
import { siteStore } from "#test/site-store.ts";

// SQLite's query plan for every list operation: however many rows a table has, a page reads only its own.

/** Lists that sort their rows, and why these are always few. */
const SORTED: Record<string, string> = {
  listBroadcasts: "only the site's active broadcasts",
  listAutomationRulesById: "at most 200 ids are requested",
  listPlaylistsById: "at most 200 ids are requested",
  listApiKeys: "a site has a handful of keys",
  listGlobalSites: "one person's sites or, rarely, all sites for the operator",
};

/** Lists that a Durable Object stores. */
const ELSEWHERE: Record<string, string> = {
  listDeliveries: "the endpoint's object stores its queue",
  listRanks: "the leaderboard's object stores its ranks",
};

const AnyList = z.looseObject({ pagination: Pagination.optional() });

const lists = operations.filter(({ operationId, method, responseSchemas }) => {
  const schema = responseSchemas.get(200);
  if (method !== "get" || !(schema instanceof z.ZodObject) || ELSEWHERE[operationId] !== undefined) return false;
  // Some lists return only a total count instead of `pagination`.
  return schema.shape.pagination === Pagination || "totalCount" in schema.shape;
});

let site: TestSite;

beforeAll(async () => {
  site = await newSite();
});

test("the document has lists, including all those that may sort", () => {
  const ids = lists.map((operation) => operation.operationId);
  expect(ids.length).toBeGreaterThan(8);
  for (const id of ["listCustomThemes", "listDefaultThemes", "listChannelTemplates"]) expect(ids).toContain(id);
  expect(Object.keys(SORTED).filter((id) => !ids.includes(id))).toEqual([]);
});

describe.each(lists.map((operation) => [operation.operationId, operation] as const))("%s", (operationId, operation) => {
  test("reads a page from an index in order, and the next page without the rows before it", async () => {
    await validCall(site, operation);
    const first = await validCall(site, operation);
    const { next, rows, count } = await read(operation, { ...first, query: { ...first.query, limit: 1 } });
    for (const plan of [rows, count]) expect.soft(plan.filter(isFullScan), plan.join("\n")).toEqual([]);
    if (SORTED[operationId]) return;
    expect.soft(rows.filter(isSort), rows.join("\n")).toEqual([]);
    if (next === null) return;
    const query = Object.fromEntries(new URL(next, "https://tifo.test").searchParams);
    const { rows: nextRows } = await read(operation, { ...first, query });
    expect.soft(nextRows.some(startsAtCursor), nextRows.join("\n")).toBe(true);
  });
});

describe("statements that aren't lists", () => {
  const db = createDb(siteStore);
  const plan = async ({ sql }: { sql: string }) => (await explain(sql)).filter((step) => step.startsWith("SEARCH"));

  test.each([accounts, pages, questions, overlays, automationRules])(
    "find the rows with given ids by these, not among all of the site",
    async (table) => {
      const query = db
        .select()
        .from(table)
        .where(ownRows({ siteId: site.id }, table, ["1"]));
      expect(await plan(query.toSQL())).toEqual([
        `SEARCH ${getTableName(table)} USING INDEX sqlite_autoindex_${getTableName(table)}_1 (id=?)`,
      ]);
    },
  );

  test("find the references of a write by their ids", async () => {
    const prepare = vi.spyOn(siteStore, "prepare");
    const rule = await validCall(site, operationOf("createAutomationRule"));
    expect((await site.call("createAutomationRule", rule)).status).toBe(201);
    const [statement] = prepare.mock.calls.map(([sql]) => sql).filter((sql) => sql.includes('count(distinct "overlays"."id")'));
    prepare.mockRestore();
    const byIndex = (await explain(statement)).filter((step) => step.startsWith("SEARCH"));
    expect(byIndex.length).toBeGreaterThan(1);
    expect(byIndex.filter((step) => !step.endsWith("(id=?)"))).toEqual([]);
  });

  test("find admins among the accounts with roles", async () => {
    const query = db
      .select({ id: accounts.id })
      .from(accounts)
      .where(and(eq(accounts.siteId, site.id), administersSite("write")));
    expect(await plan(query.toSQL())).toEqual([expect.stringContaining("USING INDEX accounts_staff (site_id=?)")]);
  });
});

/** Whether the query belongs to the effect of a rule change, which reads all active rules. */
function isAutomationQuery(sql: string): boolean {
  return sql.includes("automation_rules") && sql.includes('"active" = ?');
}

/** Reads one page and returns the query plans of its rows and its count. */
async function read(operation: Operation, call: CallOptions): Promise<{ next: string | null; rows: string[]; count: string[] }> {
  const prepare = vi.spyOn(siteStore, "prepare");
  const response = await site.call(operation.operationId, call);
  // The site's log may read the outbox at the same time.
  const queries = prepare.mock.calls.map(([sql]) => sql).filter((sql) => !sql.includes('from "outbox"') && !isAutomationQuery(sql));
  prepare.mockRestore();
  expect(response.status, response.text).toBe(200);
  const [rows, count] = [/^select .* order by .* limit \?/s, /^select count\(/].map((kind) => queries.find((sql) => kind.test(sql)));
  return { next: response.as(AnyList).pagination?.next ?? null, rows: await explain(rows), count: await explain(count) };
}

/** The steps of a statement's plan, which doesn't depend on the parameters. */
async function explain(sql: string | undefined): Promise<string[]> {
  if (sql === undefined) throw new Error("The list has queried no rows or no count");
  const parameters = sql.match(/\?/g) ?? [];
  const { results } = await siteStore
    .prepare(`explain query plan ${sql}`)
    .bind(...parameters.map(() => null))
    .all<{ detail: string }>();
  return results.map((step) => step.detail);
}

/** Whether the step reads every row of a table. */
function isFullScan(step: string): boolean {
  // json_each reads a JSON parameter or column. Under an alias it shows up as a virtual table.
  return step.startsWith("SCAN") && !step.includes("VIRTUAL TABLE") && !/^SCAN (json_each|json_tree|CONSTANT ROW)/.test(step);
}

function isSort(step: string): boolean {
  return step.includes("USE TEMP B-TREE FOR ORDER BY");
}

/** Whether the search starts at the cursor: after its two values, or after its id. */
function startsAtCursor(step: string): boolean {
  return /^SEARCH .*(\)[<>]\(|\bid[<>])/.test(step);
}
