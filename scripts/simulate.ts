import { OBJECT_REQUESTS } from "./simulation/costs.ts";
import { simulate } from "./simulation/run.ts";
import { readOptions } from "./lib/options.ts";
import { guard, Problem, say } from "./lib/report.mjs";

const USAGE = `Usage: npm run simulate -- [--viewers 100000] [--connections 6]

A channel with a million viewers on a virtual clock. The code that delivers frames is the Worker's own; the platform's costs are those of
scripts/simulation/costs.ts. Fails if any viewer misses a frame or receives one twice.

  --viewers      the audience
  --connections  how many calls an object makes at a time, without a limit by default`;

await guard(async () => {
  const { values } = readOptions(USAGE, { options: { viewers: { type: "string", default: "1000000" }, connections: { type: "string" } } });
  const started = performance.now();
  const report = await simulate({
    viewers: countOf("--viewers", values.viewers),
    connections: values.connections === undefined ? Infinity : countOf("--connections", values.connections),
  });
  say(
    `${report.viewers.toLocaleString("en")} viewers, ${report.relays} relays, ${report.branches} branches, ${report.broadcasts} broadcasts`,
  );
  say(
    `${report.received.toLocaleString("en")} frames received: ${report.gaps} missing, ${report.doubles} repeated; ${report.behind} viewers not up to date at the end`,
  );
  say(
    `${report.returned.toLocaleString("en")} reconnects, ${report.restarted} of which got the whole state; ${report.branchesLost} branches lost`,
  );
  for (const phase of report.phases) say(`${phase.name}: last viewer after ${phase.p50} ms (median broadcast), ${phase.max} ms (slowest)`);
  for (const { kind, peak } of report.requests)
    say(`requests per second of one ${kind}, at most: ${peak} (limit about ${OBJECT_REQUESTS})`);
  say(
    `cost of an hour like the steady phase: $${report.usdPerHour.toFixed(2)} (requests $${report.usdRequests.toFixed(2)}, duration $${report.usdDuration.toFixed(2)}), and $${report.usdAcks.toFixed(2)} if every viewer acknowledges every broadcast`,
  );
  say(`(${Math.round((performance.now() - started) / 1000)} s)`);
  if (report.gaps + report.doubles + report.behind > 0) process.exitCode = 1;
});
if (process.connected) process.disconnect();

function countOf(option: string, text: string): number {
  const count = Number(text);
  if (!Number.isInteger(count) || count < 1) throw new Problem(`${option} must be a whole number above 0, not "${text}".`);
  return count;
}
