import { z } from "@hono/zod-openapi";
import { CHANNEL_2, loadDemo, SITE_A } from "#db/demo.ts";
import { bundle } from "./lib/bundle.ts";
import { createDatabase } from "./lib/database.ts";
import { ask, hammer, requestText } from "./lib/http.ts";
import { meter } from "./lib/machine.ts";
import type { Server } from "./lib/processes.ts";
import { comparisonTable, perSecond, type Result } from "./lib/report.ts";
import { runRounds, type Reading } from "./lib/rounds.ts";
import { newFolder, OBJECTS, startMiniflare, VARIABLES } from "./lib/runtimes.ts";

const PATH = `/page/v2/content/id/${CHANNEL_2}`;
const VIEWER = { email: "viewer@demo.example", password: "demo-viewer-pass", siteId: SITE_A };
const CONNECTIONS = 16;

/** Q: a page's content for a signed-in viewer whose device has a slot, compared with a bare D1 batch of the same statements. */
export async function content(quick: boolean): Promise<Result> {
  const [ours, bare] = ["Tifo", "bare D1 batch"];
  const folder = newFolder();
  await createDatabase(folder, loadDemo);
  const code = await bundle("worker/index.ts");
  const { headers, statements } = await record(folder);
  const bareCode = await bundle("bench/workers/bare-batch.ts");
  const rounds = await runRounds({
    contenders: [
      { name: ours, start: () => startMiniflare({ code, objects: OBJECTS, variables: VARIABLES }, folder) },
      { name: bare, start: () => startMiniflare({ code: bareCode, objects: {}, variables: { STATEMENTS: statements } }, folder) },
    ],
    rounds: quick ? 2 : 5,
    measure: (server) => measure(server, headers, quick),
  });
  const table = comparisonTable({
    rounds,
    cells: ["requests"],
    ours,
    others: [bare],
    better: "higher",
    figure: perSecond,
    goals: () => ({ goal: 0.6, floor: 0.5 }),
  });
  const count = z.array(z.unknown()).parse(JSON.parse(statements)).length;
  return { ...table, remarks: [`One batch of ${count} statements; the token is verified with each request`] };
}

/** Signs the viewer in, requests the content once so that the device takes its slot, and records the statements of the next request. */
async function record(folder: string): Promise<{ headers: Record<string, string>; statements: string }> {
  const server = await startMiniflare(
    { code: await bundle("bench/workers/recorded-d1.ts"), objects: OBJECTS, variables: VARIABLES },
    folder,
  );
  try {
    const login = await ask(server.port, "POST", "/auth/v2/login", {}, JSON.stringify(VIEWER));
    const { jwt } = z.object({ jwt: z.string() }).parse(JSON.parse(login));
    const headers = { "Tifo-Client-Id": SITE_A, "Tifo-Device-Id": "living-room-tv", Authorization: `Bearer ${jwt}` };
    for (let call = 0; call < 2; call++) await ask(server.port, "GET", PATH, headers);
    return { headers, statements: await ask(server.port, "GET", "/last-batch") };
  } finally {
    await server.stop();
  }
}

async function measure({ port, group }: Server, headers: Record<string, string>, quick: boolean): Promise<Reading[]> {
  const request = requestText("GET", PATH, headers);
  const expected = { status: 200, body: await ask(port, "GET", PATH, headers) };
  await hammer(port, request, CONNECTIONS, quick ? 1 : 2, expected);
  const used = meter(group);
  const { perSecond: value } = await hammer(port, request, CONNECTIONS, quick ? 1 : 3, expected);
  return [{ cell: "requests", value, usage: used() }];
}
