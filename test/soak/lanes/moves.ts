import { readdirSync } from "node:fs";
import { join } from "node:path";
import { DatabaseSync } from "node:sqlite";
import { setTimeout as sleep } from "node:timers/promises";
import { z } from "@hono/zod-openapi";
import { SITE_A } from "#db/demo/match-day.ts";
import { DEMO_SUPER_KEY } from "#scripts/lib/state.ts";
import { MOVED, type MovedTable, OUTBOX, SITE_ROW } from "#worker/services/site-moves/tables.ts";
import type { Api } from "../api.ts";
import type { Lane, Outcome } from "../lane.ts";
import type { SoakServer } from "../server.ts";

const PATH = `/ops/sites/${SITE_A}/move`;
const OPERATOR = { "Tifo-Super-Key": DEMO_SUPER_KEY };
const LAST_PAUSE_MS = 2_000;

const Move = z.object({ phase: z.string(), toShard: z.number(), message: z.string().nullable() });
type Move = z.output<typeof Move>;

/** The site of all other lanes, moved from one database to the other and back: afterwards, it is in one of them alone. */
export class Moves implements Lane {
  readonly name = "moves";
  readonly pauseMs = 3_000;
  readonly #api: Api;
  readonly #server: SoakServer;
  readonly #wrong: string[] = [];
  #shard = 1;
  #completed = 0;

  constructor(api: Api, server: SoakServer) {
    this.#api = api;
    this.#server = server;
  }

  async prepare(): Promise<void> {}

  async step(): Promise<void> {
    const move = await this.#read();
    if (move && !isOver(move)) return;
    this.#note(move);
    // One that got no response may have begun nevertheless: 409.
    await this.#api.decide(PATH, { method: "POST", headers: OPERATOR, body: { shard: this.#shard === 1 ? 2 : 1 } });
  }

  /** Waits for the last move, which copies what the others still do. */
  async compare(): Promise<Outcome> {
    let last = await this.#read();
    for (; last && !isOver(last); last = await this.#read()) {
      await this.#server.runScheduled();
      await sleep(LAST_PAUSE_MS);
    }
    this.#note(last);
    return { acknowledged: this.#completed, wrong: [...this.#wrong, ...leftBehind(this.#server.databases)] };
  }

  /** Counts a move that has ended. */
  #note(move: Move | undefined): void {
    if (move?.phase === "complete" && move.toShard !== this.#shard) {
      this.#shard = move.toShard;
      this.#completed++;
    }
    if (move?.phase === "cancelled" && move.message?.includes("differs")) this.#wrong.push(`a move was cancelled: ${move.message}`);
  }

  async #read(): Promise<Move | undefined> {
    const { status, body } = await this.#api.decide(PATH, { headers: OPERATOR });
    return status === 404 ? undefined : Move.parse(body);
  }
}

function isOver({ phase }: Move): boolean {
  return phase === "complete" || phase === "cancelled";
}

/** Triggers of a move that are still there, and rows of the site in the database that it isn't in. */
function leftBehind(folder: string): string[] {
  const files = readdirSync(folder).filter((name) => /^[0-9a-f]{64}\.sqlite$/.test(name));
  const databases = files.map((name) => new DatabaseSync(join(folder, name), { readOnly: true }));
  const owners = databases.filter((database) => hasRows(database, SITE_ROW));
  const found = databases.flatMap((database) => [
    ...triggersOf(database),
    ...(owners.includes(database) ? [] : [...MOVED, OUTBOX].filter((table) => hasRows(database, table)).map(({ name }) => name)),
  ]);
  for (const database of databases) database.close();
  return [
    ...(databases.length === 2 && owners.length === 1 ? [] : [`${owners.length} of ${databases.length} databases have the site`]),
    ...found.map((name) => `left behind: ${name}`),
  ];
}

function hasRows(database: DatabaseSync, table: MovedTable): boolean {
  const isOwned = table.owned(`"${table.name}"`, SITE_A);
  return database.prepare(`select 1 from "${table.name}" where ${isOwned} limit 1`).get() !== undefined;
}

function triggersOf(database: DatabaseSync): string[] {
  const triggers = database.prepare("select name from sqlite_schema where type = 'trigger' and name like 'site_move%'").all();
  return triggers.map(({ name }) => String(name));
}
