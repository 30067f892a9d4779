import { execFileSync } from "node:child_process";
import { writeFileSync } from "node:fs";
import { join } from "node:path";
import { setTimeout as sleep } from "node:timers/promises";
import { z } from "@hono/zod-openapi";
import { loadDemo, SITE_A } from "#db/demo.ts";
import { bundle } from "./lib/bundle.ts";
import { createDatabase } from "./lib/database.ts";
import { meter } from "./lib/machine.ts";
import type { Server } from "./lib/processes.ts";
import { milliseconds, type Result } from "./lib/report.ts";
import { newFolder, OBJECTS, startMiniflare, VARIABLES } from "./lib/runtimes.ts";
import { percentile } from "./lib/stats.ts";

const MEMBERS = 1_000_000;
const PER_SECOND = 3_000;
const SECONDS = 60;
const PER_CALL = 500;
const READS = 200;
/** Of a core. */
const IDLE_SHARE = 0.05;
/** The reads are also measured with so few members, to show what depends on their number. */
const FEW = 1_000;
const VIEWER = "5eed0000000000000000a003";
// The runtime closes a connection that was idle for five seconds, as all are while it works or this process waits for DuckDB, and
// a request that is sent on one at that moment fails. Therefore each request has a connection of its own.
const CLIENT = { "Tifo-Client-Id": SITE_A, Connection: "close" };
const KEY = { ...CLIENT, "Tifo-Developer-Key": "tifo_dev_demo", "Content-Type": "application/json" };
const VISITOR: Record<string, string> = CLIENT;
/** Installed for the comparison only, because it weighs more than all of Tifo. */
const DUCKDB = "@duckdb/node-api@1.5.6-r.1";

const Created = z.object({ _id: z.string() });
const Outcomes = z.object({ awards: z.array(z.object({ status: z.string() })) });
const Ranks = z.object({
  results: z.array(z.object({ rank: z.number(), points: z.number(), accountId: z.string() })),
  pagination: z.object({ next: z.string().nullable() }),
});
type Standing = [rank: number, points: number, accountId: string];

/** A row of the table, and the D1 statements of one call. */
interface Step {
  row: string[];
  statements: number;
}

/** R: a leaderboard of a million members through the full Worker: awards in lists, reads, and all ranks recomputed from the export by DuckDB. */
export async function ranks(quick: boolean): Promise<Result> {
  const members = quick ? 20_000 : MEMBERS;
  const folder = newFolder();
  await createDatabase(folder, async (database) => {
    await loadDemo(database);
    await addAccounts(database, members);
  });
  const worker = { code: await bundle("bench/workers/counted-d1.ts"), objects: OBJECTS, variables: VARIABLES };
  const server = await startMiniflare(worker, folder);
  try {
    return await measure(server, members, quick ? 5 : SECONDS);
  } finally {
    await server.stop();
  }
}

async function measure(server: Server, members: number, seconds: number): Promise<Result> {
  const board = new Board(server.port, await createBoard(server.port));
  await board.post([{ accountId: VIEWER, points: 500 }]);
  const filled = performance.now();
  await board.fill(0, FEW);
  const few = await readSteps(server, board, FEW);
  await board.fill(FEW, members);
  const fill = ((performance.now() - filled) / 1000).toFixed(0);
  const awards = await offered(server, board, members, seconds);
  const many = await readSteps(server, board, members);
  few.forEach(({ row: [name = ""], statements }, index) => {
    if (many[index]?.statements !== statements) throw new Error(`The D1 statements of "${name}" depend on the number of members`);
  });
  const remarks = [`${members.toLocaleString("en")} members were filled in lists of ${PER_CALL} within ${fill} s`, await recomputed(board)];
  const columns = ["step", "rate", "latency p50, p99", "server CPU per call", "D1 round trips per call", "D1 statements per call"];
  return { columns, rows: [...few, awards, ...many].map(({ row }) => row), remarks };
}

async function readSteps(server: Server, board: Board, members: number): Promise<Step[]> {
  await idle(server);
  const of = `of ${members.toLocaleString("en")}`;
  return [await reads(server, board, `top 100 ${of}`, "?limit=100"), await ownRank(server, board, `own rank ${of}`)];
}

/** Resolves once the effects of the awards are done, which would otherwise count as the reads' work. */
async function idle(server: Server): Promise<void> {
  for (;;) {
    const used = meter(server.group);
    await sleep(1000);
    if (used().server < IDLE_SHARE) return;
  }
}

/** Offers awards at a fixed rate, whatever the server does. */
async function offered(server: Server, board: Board, members: number, seconds: number): Promise<Step> {
  const calls = (PER_SECOND / PER_CALL) * seconds;
  const [used, before, started] = [meter(server.group), await board.queries(), performance.now()];
  const taken: number[] = [];
  const pending: Promise<void>[] = [];
  for (let call = 0; call < calls; call++) {
    const due = (call * 1000 * PER_CALL) / PER_SECOND;
    await sleep(Math.max(0, due - (performance.now() - started)));
    const from = performance.now();
    const chosen = Array.from({ length: PER_CALL }, () => Math.floor(Math.random() * members));
    pending.push(board.award(chosen).then(() => void taken.push(performance.now() - from)));
  }
  await Promise.all(pending);
  const elapsed = (performance.now() - started) / 1000;
  const rate = `${Math.round((calls * PER_CALL) / elapsed).toLocaleString("en")} awards/s`;
  const { server: share, seconds: measured } = used();
  return step(`awards, ${PER_CALL} a call`, rate, taken, (share * measured) / calls, perCall(await board.queries(), before, calls));
}

async function reads(server: Server, board: Board, name: string, query: string, headers = VISITOR): Promise<Step> {
  // What an isolate reads once doesn't count.
  await board.get(query, headers);
  const [used, before, started] = [meter(server.group), await board.queries(), performance.now()];
  const taken: number[] = [];
  for (let n = 0; n < READS; n++) {
    const from = performance.now();
    await board.get(query, headers);
    taken.push(performance.now() - from);
  }
  const rate = `${Math.round(READS / ((performance.now() - started) / 1000))}/s, one at a time`;
  const { server: share, seconds } = used();
  return step(name, rate, taken, (share * seconds) / READS, perCall(await board.queries(), before, READS));
}

async function ownRank(server: Server, board: Board, name: string): Promise<Step> {
  const body = JSON.stringify({ email: "viewer@demo.example", password: "demo-viewer-pass", siteId: SITE_A });
  const login = await fetch(`http://127.0.0.1:${server.port}/auth/v2/login`, { method: "POST", headers: KEY, body });
  const { jwt } = z.object({ jwt: z.string() }).parse(await login.json());
  return reads(server, board, name, "/me", { ...CLIENT, Authorization: `Bearer ${jwt}` });
}

/** D1 round trips and statements. */
type Queries = [roundTrips: number, statements: number];

function perCall(after: Queries, before: Queries, calls: number): Queries {
  return [(after[0] - before[0]) / calls, (after[1] - before[1]) / calls];
}

function step(name: string, rate: string, taken: number[], cpu: number, [trips, statements]: Queries): Step {
  const latency = `${milliseconds(percentile(taken, 0.5))}, ${milliseconds(percentile(taken, 0.99))}`;
  return {
    row: [name, rate, latency, milliseconds(cpu * 1000), trips.toFixed(1), statements.toFixed(1)],
    statements: Math.round(statements),
  };
}

/** Reads all ranks page by page, and compares them, account by account, with those that DuckDB computes from the export. */
async function recomputed(board: Board): Promise<string> {
  const file = join(newFolder(), "ledger.csv");
  writeFileSync(file, await board.exported());
  const expected = await ranksByDuckDb(file);
  const actual: Standing[] = [];
  for (let query: string | null = "?limit=200"; query !== null;) {
    const { results, pagination }: z.output<typeof Ranks> = Ranks.parse(await board.get(query));
    for (const { rank, points, accountId } of results) actual.push([rank, points, accountId]);
    const { next } = pagination;
    query = next === null ? null : next.slice(next.indexOf("?"));
  }
  if (JSON.stringify(actual) !== JSON.stringify(expected)) throw new Error("The ranks differ from those recomputed from the export");
  return `all ${actual.length.toLocaleString("en")} ranks equal those that DuckDB recomputes from the export`;
}

async function ranksByDuckDb(file: string): Promise<Standing[]> {
  const folder = newFolder();
  execFileSync("npm", ["install", "--prefix", folder, "--no-audit", "--no-fund", DUCKDB], { stdio: "ignore" });
  const module: unknown = await import(join(folder, "node_modules/@duckdb/node-api/lib/index.js"));
  const duckdb: unknown =
    Reflect.get(Object(module), "DuckDBInstance") ?? Reflect.get(Object(Reflect.get(Object(module), "default")), "DuckDBInstance");
  const instance = await call(duckdb, "create", ":memory:");
  const connection = await call(instance, "connect");
  const query = `SELECT rank() OVER (ORDER BY sum(points) DESC) AS rank, sum(points) AS points, any_value(account_id) AS account
    FROM read_csv('${file}', header = true, types = {'account_id': 'VARCHAR', 'rule': 'VARCHAR', 'reason': 'VARCHAR'})
    GROUP BY member ORDER BY sum(points) DESC, max(sequence)`;
  const rows = await call(await call(connection, "runAndReadAll", query), "getRows");
  return z.array(z.tuple([z.coerce.number(), z.coerce.number(), z.string()])).parse(rows);
}

/** The library isn't installed when types are checked. */
async function call(target: unknown, method: string, ...values: unknown[]): Promise<unknown> {
  const found: unknown = Reflect.get(Object(target), method);
  if (typeof found !== "function") throw new Error(`DuckDB has no ${method}`);
  const result: unknown = await Reflect.apply(found, target, values);
  return result;
}

async function createBoard(port: number): Promise<string> {
  const body = JSON.stringify({ name: "A million", period: "all", channelIds: [], rules: [] });
  const response = await fetch(`http://127.0.0.1:${port}/leaderboard/v1`, { method: "POST", headers: KEY, body });
  return Created.parse(await response.json())._id;
}

/** The board under test. */
class Board {
  readonly #port: number;
  readonly #path: string;
  #awards = 0;

  constructor(port: number, id: string) {
    this.#port = port;
    this.#path = `/leaderboard/v1/${id}`;
  }

  /** Awards points to each of these members once. */
  async fill(from: number, to: number): Promise<void> {
    for (let first = from; first < to; first += PER_CALL)
      await this.award(Array.from({ length: Math.min(PER_CALL, to - first) }, (_, n) => first + n));
  }

  award(members: number[]): Promise<void> {
    return this.post(members.map((number) => ({ accountId: accountId(number), points: 1 + Math.floor(Math.random() * 100) })));
  }

  async post(awards: { accountId: string; points: number }[]): Promise<void> {
    const body = JSON.stringify({ awards: awards.map((award) => ({ ...award, awardId: `bench-${this.#awards++}` })) });
    const response = await fetch(`${this.#url}/awards`, { method: "POST", headers: KEY, body });
    const outcomes = Outcomes.parse(await response.json()).awards;
    if (outcomes.some(({ status }) => status === "rejected")) throw new Error("An award wasn't recorded");
  }

  async get(query: string, headers = VISITOR): Promise<unknown> {
    const response = await fetch(`${this.#url}/ranks${query}`, { headers });
    if (!response.ok) throw new Error(`Status ${response.status}: ${await response.text()}`);
    return response.json();
  }

  async exported(): Promise<string> {
    return (await fetch(`${this.#url}/export`, { headers: KEY })).text();
  }

  /** So far. */
  async queries(): Promise<Queries> {
    const ask = async (path: string) => Number(await (await fetch(`http://127.0.0.1:${this.#port}${path}`, { headers: CLIENT })).text());
    return [await ask("/round-trips"), await ask("/statements")];
  }

  get #url(): string {
    return `http://127.0.0.1:${this.#port}${this.#path}`;
  }
}

function accountId(number: number): string {
  return `b${number.toString(16).padStart(23, "0")}`;
}

/** Accounts that can't sign in. */
async function addAccounts(database: D1Database, count: number): Promise<void> {
  const step = 50_000;
  for (let from = 0; from < count; from += step) {
    await database
      .prepare(
        `INSERT INTO accounts (id, site_id, email, name, normalized_name, email_hash, roles, tags, third_party_auth_providers, marketing_optin,
          created, modified)
        WITH RECURSIVE number(n) AS (SELECT ?1 UNION ALL SELECT n + 1 FROM number WHERE n + 1 < ?2)
        SELECT 'b' || printf('%023x', n), ?3, n || '@crowd.example', 'Fan ' || n, 'fan ' || n, '', '[]', '[]', '[]', 0, 0, 0 FROM number`,
      )
      .bind(from, Math.min(count, from + step), SITE_A)
      .run();
  }
}
