import { env } from "cloudflare:workers";
import { z } from "@hono/zod-openapi";
import { beforeAll, describe, expect, test, vi } from "vitest";
import { Pagination } from "#worker/services/core/list-schemas.ts";
import { validCall } from "./contract-requests.ts";
import { type CallOptions, newSite, type TestSite } from "./harness.ts";
import { type Operation, operations } from "./openapi.ts";

// What SQLite does for each list of the document, whichever area it is of: however many rows a table has, a page reads only its own.

/** Lists that sort what they have found, and why that is never much. */
const SORTED: Record<string, string> = {
  listBroadcasts: "only what is on the site's screens at this moment",
  listAutomationRulesById: "at most 200 ids are asked for",
  listPlaylistsById: "at most 200 ids are asked for",
  listApiKeys: "a site has a handful of keys",
  listGlobalSites: "one person's sites, or for the operator, now and then, those of all",
};

/** Lists that an object keeps in a storage of its own. */
const ELSEWHERE: Record<string, string> = { listDeliveries: "the endpoint's object has its queue" };

const AnyList = z.looseObject({ pagination: Pagination.optional() });

const lists = operations.filter(({ operationId, method, answers }) => {
  const answer = answers.get(200);
  if (method !== "get" || !(answer instanceof z.ZodObject) || ELSEWHERE[operationId] !== undefined) return false;
  // A few lists name only the count of all that they find.
  return answer.shape.pagination === Pagination || "totalCount" in answer.shape;
});

let site: TestSite;

beforeAll(async () => {
  site = await newSite();
});

test("the document has lists, and those that may sort are among them", () => {
  const ids = lists.map((operation) => operation.operationId);
  expect(ids.length).toBeGreaterThan(8);
  for (const id of ["listCustomThemes", "listDefaultThemes", "listChannelTemplates"]) expect(ids).toContain(id);
  expect(Object.keys(SORTED).filter((id) => !ids.includes(id))).toEqual([]);
});

describe.each(lists.map((operation) => [operation.operationId, operation] as const))("%s", (operationId, operation) => {
  test("finds a page by an index, in its order, and the next one without those before", async () => {
    await validCall(site, operation);
    const first = await validCall(site, operation);
    const { next, rows, count } = await read(operation, { ...first, query: { ...first.query, limit: 1 } });
    for (const plan of [rows, count]) expect.soft(plan.filter(isFullScan), plan.join("\n")).toEqual([]);
    if (SORTED[operationId]) return;
    expect.soft(rows.filter(isSort), rows.join("\n")).toEqual([]);
    if (next === null) return;
    const query = Object.fromEntries(new URL(next, "https://tifo.test").searchParams);
    const { rows: onwards } = await read(operation, { ...first, query });
    expect.soft(onwards.some(goesOn), onwards.join("\n")).toBe(true);
  });
});

/** What follows from a change of rules reads all that are on. */
function ofAutomation(sql: string): boolean {
  return sql.includes("automation_rules") && sql.includes('"active" = ?');
}

/** Reads one page, and finds out how its rows and their count were come by. */
async function read(operation: Operation, call: CallOptions): Promise<{ next: string | null; rows: string[]; count: string[] }> {
  const prepare = vi.spyOn(env.DB, "prepare");
  const answer = await site.call(operation.operationId, call);
  // Meanwhile the site's log may read the outbox.
  const queries = prepare.mock.calls.map(([sql]) => sql).filter((sql) => !sql.includes('from "outbox"') && !ofAutomation(sql));
  prepare.mockRestore();
  expect(answer.status, answer.text).toBe(200);
  const [rows, count] = [/^select .* order by .* limit \?/s, /^select count\(/].map((kind) => queries.find((sql) => kind.test(sql)));
  return { next: answer.as(AnyList).pagination?.next ?? null, rows: await explain(rows), count: await explain(count) };
}

/** The steps of a statement's plan, which is the same for all parameters. */
async function explain(sql: string | undefined): Promise<string[]> {
  if (sql === undefined) throw new Error("The list has asked for no rows, or for no count");
  const parameters = sql.match(/\?/g) ?? [];
  const { results } = await env.DB.prepare(`explain query plan ${sql}`)
    .bind(...parameters.map(() => null))
    .all<{ detail: string }>();
  return results.map((step) => step.detail);
}

/** Every row of a table; the elements of a JSON parameter or column are no table. */
function isFullScan(step: string): boolean {
  // json_each under whatever name is a virtual table, not one of ours.
  return step.startsWith("SCAN") && !step.includes("VIRTUAL TABLE") && !/^SCAN (json_each|json_tree|CONSTANT ROW)/.test(step);
}

function isSort(step: string): boolean {
  return step.includes("USE TEMP B-TREE FOR ORDER BY");
}

/** Whether the search begins behind a given row: by the two values of a cursor, or by the id alone. */
function goesOn(step: string): boolean {
  return /^SEARCH .*(\)[<>]\(|\bid[<>])/.test(step);
}
