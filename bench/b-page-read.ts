import { CHANNEL_1, loadDemo, SITE_A } from "#db/demo.ts";
import { bundle } from "./lib/bundle.ts";
import { createDatabase } from "./lib/database.ts";
import { ask, hammerEach, requestText } from "./lib/http.ts";
import { meter } from "./lib/machine.ts";
import type { Server } from "./lib/processes.ts";
import { comparisonTable, perSecond, type Result } from "./lib/report.ts";
import { runRounds, type Reading } from "./lib/rounds.ts";
import { newFolder, OBJECTS, startMiniflare, VARIABLES } from "./lib/runtimes.ts";

const pathOf = (id: string): string => `/page/v2/${id}`;
const HEADERS = { "Tifo-Client-Id": SITE_A };
const CONNECTIONS = 16;

/** Copies of the demo channel, so that each connection can read a page of its own. */
const COPIES = Array.from({ length: CONNECTIONS }, (_, index) => `5eed0000000000000000ce${String(index).padStart(2, "0")}`);

const CELLS = ["pages of their own", "the same page"] as const;

/** B: reads pages by id with the full Worker, compared with a handler that only runs the SELECT. */
export async function pageRead(quick: boolean): Promise<Result> {
  const [ours, bare] = ["Tifo", "bare D1 select"];
  const folder = newFolder();
  await createDatabase(folder, async (database) => {
    await loadDemo(database);
    await copyPage(database);
  });
  const workers = {
    ours: { code: await bundle("worker/index.ts"), objects: OBJECTS, variables: VARIABLES },
    counted: { code: await bundle("bench/workers/counted-d1.ts"), objects: OBJECTS, variables: VARIABLES },
    bare: { code: await bundle("bench/workers/page-select.ts"), objects: {}, variables: {} },
  };
  const roundTrips = await countRoundTrips(() => startMiniflare(workers.counted, folder));
  const bodies = new Map<string, string>();
  const rounds = await runRounds({
    contenders: [
      { name: ours, start: () => startMiniflare(workers.ours, folder) },
      { name: bare, start: () => startMiniflare(workers.bare, folder) },
    ],
    rounds: quick ? 2 : 5,
    measure: async (server) => {
      // What the first contender responds is expected of all.
      for (const id of COPIES) bodies.set(id, bodies.get(id) ?? (await ask(server.port, "GET", pathOf(id), HEADERS)));
      return measure(server, bodies, quick);
    },
  });
  const table = comparisonTable({
    rounds,
    cells: [...CELLS],
    ours,
    others: [bare],
    better: "higher",
    figure: perSecond,
    goals: () => ({ goal: 0.85, floor: 0.7 }),
  });
  return { ...table, remarks: [`D1 round trips per request: ${roundTrips}`] };
}

/** As many pages as connections, all equal but for their ids and slugs. */
async function copyPage(database: D1Database): Promise<void> {
  const columns = "site_id, type, seo, style, active_renderers, renderers, data, tags, created, modified, version";
  const copy = `insert into pages (id, slug, ${columns}) select ?1, ?1, ${columns} from pages where id = ?2`;
  await database.batch(COPIES.map((id) => database.prepare(copy).bind(id, CHANNEL_1)));
}

async function measure({ port, group }: Server, bodies: ReadonlyMap<string, string>, quick: boolean): Promise<Reading[]> {
  const all = [...bodies].map(([id, body]) => ({ request: requestText("GET", pathOf(id), HEADERS), expected: { status: 200, body } }));
  const readings: Reading[] = [];
  for (const [cell, requests] of [
    [CELLS[0], all],
    [CELLS[1], all.flatMap(() => all.slice(0, 1))],
  ] as const) {
    await hammerEach(port, requests, quick ? 1 : 2);
    const used = meter(group);
    const { perSecond: value } = await hammerEach(port, requests, quick ? 1 : 3);
    readings.push({ cell, value, usage: used() });
  }
  return readings;
}

/** D1 round trips of an isolate's first request and of a later one, counted between the Worker and its database. */
async function countRoundTrips(start: () => Promise<Server>): Promise<string> {
  const server = await start();
  try {
    const counted = async (): Promise<number> => {
      const before = Number(await ask(server.port, "GET", "/round-trips"));
      await ask(server.port, "GET", pathOf(CHANNEL_1), HEADERS);
      return Number(await ask(server.port, "GET", "/round-trips")) - before;
    };
    return `${await counted()} for the first, ${await counted()} for later ones`;
  } finally {
    await server.stop();
  }
}
