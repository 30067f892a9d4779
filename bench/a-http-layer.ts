import { bundle } from "./lib/bundle.ts";
import { ask, hammer, requestText } from "./lib/http.ts";
import { meter } from "./lib/machine.ts";
import type { Server } from "./lib/processes.ts";
import { comparisonTable, perSecond, type Result } from "./lib/report.ts";
import { runRounds, type Reading } from "./lib/rounds.ts";
import { startWorkerd, VARIABLES } from "./lib/runtimes.ts";

const PATH = "/bench/v1/goals/5eed0000000000000000c001";
const BODY = JSON.stringify({
  scorer: "Mara Quint",
  minute: 63,
  home: 2,
  away: 1,
  tags: ["football", "derby"],
  note: "A header from the corner",
});
const CONNECTIONS = 16;

/** A: a validated route without storage, through Tifo's full HTTP layer. */
export async function httpLayer(quick: boolean): Promise<Result> {
  const names = { ours: "Tifo", bare: "bare handler", hono: "bare Hono route" };
  const contender = async (name: string, entry: string) => {
    const code = await bundle(`bench/workers/${entry}`);
    return { name, start: () => startWorkerd({ code, objects: {}, variables: VARIABLES }) };
  };
  const rounds = await runRounds({
    contenders: [
      await contender(names.ours, "http-layer.ts"),
      await contender(names.bare, "handler.ts"),
      await contender(names.hono, "hono.ts"),
    ],
    rounds: quick ? 2 : 5,
    measure: (server) => measure(server, quick),
  });
  return comparisonTable({
    rounds,
    cells: ["requests"],
    ours: names.ours,
    others: [names.bare, names.hono],
    better: "higher",
    figure: perSecond,
    goals: (_, other) => (other === names.hono ? { goal: 0.95, floor: 0.85 } : { goal: 0.6, floor: 0.5 }),
  });
}

async function measure({ port, group }: Server, quick: boolean): Promise<Reading[]> {
  const expected = { status: 200, body: await ask(port, "POST", PATH, {}, BODY) };
  const request = requestText("POST", PATH, {}, BODY);
  await hammer(port, request, CONNECTIONS, quick ? 1 : 2, expected);
  const used = meter(group);
  const { perSecond: value } = await hammer(port, request, CONNECTIONS, quick ? 1 : 2, expected);
  return [{ cell: "requests", value, usage: used() }];
}
