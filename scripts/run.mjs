// Runs a script of ours on a fresh clone too: installs what is missing, then hands over to the Node.js that the project pins.
// Plain JavaScript without dependencies: the machine's own Node.js, which may be as old as 20, reads this file.
import { handOver } from "./lib/hand-over.mjs";
import { ensureInstalled } from "./lib/install.mjs";
import { guard } from "./lib/report.mjs";

await guard(async () => {
  const [script, ...args] = process.argv.slice(2);
  if (script === undefined) throw new TypeError("usage: node scripts/run.mjs <script> [arguments]");
  await ensureInstalled();
  process.exitCode = await handOver(script, args);
});
