// Runs a project script, on a fresh clone too: installs missing packages, then runs it with the Node.js version that the project pins.
// Plain JavaScript without dependencies, because the machine's own Node.js runs it, which may be as old as 20.
import { ensureInstalled } from "./lib/install.mjs";
import { runWithPinnedNode } from "./lib/pinned-node.mjs";
import { guard } from "./lib/report.mjs";

await guard(async () => {
  const [script, ...args] = process.argv.slice(2);
  if (script === undefined) throw new TypeError("usage: node scripts/run.mjs <script> [arguments]");
  await ensureInstalled();
  process.exitCode = await runWithPinnedNode(script, args);
});
