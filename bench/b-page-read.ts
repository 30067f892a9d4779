import { CHANNEL_1, loadDemo, SITE_A } from "#db/demo.ts";
import { bundle } from "./lib/bundle.ts";
import { createDatabase } from "./lib/database.ts";
import { ask, hammer, requestText } from "./lib/http.ts";
import { meter } from "./lib/machine.ts";
import type { Server } from "./lib/processes.ts";
import { comparisonTable, perSecond, type Result } from "./lib/report.ts";
import { runRounds, type Reading } from "./lib/rounds.ts";
import { newFolder, OBJECTS, startMiniflare, VARIABLES } from "./lib/runtimes.ts";

const PATH = `/page/v2/${CHANNEL_1}`;
const HEADERS = { "Tifo-Client-Id": SITE_A };
const CONNECTIONS = 16;

/** B: reads a page by id with the full Worker, compared with a handler that only runs the SELECT. */
export async function pageRead(quick: boolean): Promise<Result> {
  const [ours, bare] = ["Tifo", "bare D1 select"];
  const folder = newFolder();
  await createDatabase(folder, loadDemo);
  const workers = {
    ours: { code: await bundle("worker/index.ts"), objects: OBJECTS, variables: VARIABLES },
    counted: { code: await bundle("bench/workers/counted-d1.ts"), objects: OBJECTS, variables: VARIABLES },
    bare: { code: await bundle("bench/workers/page-select.ts"), objects: {}, variables: {} },
  };
  const roundTrips = await countRoundTrips(() => startMiniflare(workers.counted, folder));
  let body: string | undefined;
  const rounds = await runRounds({
    contenders: [
      { name: ours, start: () => startMiniflare(workers.ours, folder) },
      { name: bare, start: () => startMiniflare(workers.bare, folder) },
    ],
    rounds: quick ? 2 : 5,
    measure: async (server) => {
      body ??= await ask(server.port, "GET", PATH, HEADERS);
      return measure(server, body, quick);
    },
  });
  const table = comparisonTable({
    rounds,
    cells: ["requests"],
    ours,
    others: [bare],
    better: "higher",
    figure: perSecond,
    goals: () => ({ goal: 0.85, floor: 0.7 }),
  });
  return { ...table, remarks: [`D1 round trips per request: ${roundTrips}`] };
}

async function measure({ port, group }: Server, body: string, quick: boolean): Promise<Reading[]> {
  const request = requestText("GET", PATH, HEADERS);
  await hammer(port, request, CONNECTIONS, quick ? 1 : 2, { status: 200, body });
  const used = meter(group);
  const { perSecond: value } = await hammer(port, request, CONNECTIONS, quick ? 1 : 3, { status: 200, body });
  return [{ cell: "requests", value, usage: used() }];
}

/** D1 round trips of an isolate's first request and of a later one, counted between the Worker and its database. */
async function countRoundTrips(start: () => Promise<Server>): Promise<string> {
  const server = await start();
  try {
    const counted = async (): Promise<number> => {
      const before = Number(await ask(server.port, "GET", "/round-trips"));
      await ask(server.port, "GET", PATH, HEADERS);
      return Number(await ask(server.port, "GET", "/round-trips")) - before;
    };
    return `${await counted()} for the first, ${await counted()} for later ones`;
  } finally {
    await server.stop();
  }
}
