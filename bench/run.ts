import { cpus } from "node:os";
import { runOrFail } from "#scripts/lib/command.ts";
import { readOptions } from "#scripts/lib/options.ts";
import { guard, Problem, say } from "#scripts/lib/report.mjs";
import { httpLayer } from "./a-http-layer.ts";
import { pageRead } from "./b-page-read.ts";
import { broadcast } from "./f-broadcast.ts";
import { chat } from "./c-chat.ts";
import { bursts } from "./g-bursts.ts";
import { relays } from "./h-relays.ts";
import { counts } from "./i-counts.ts";
import { connectStorm } from "./j-connect-storm.ts";
import { votes } from "./k-votes.ts";
import { eventToScreen } from "./l-event-to-screen.ts";
import { canPin, load, pinClient, unpin } from "./lib/machine.ts";
import { around, environment, markdown, record, type Result } from "./lib/report.ts";
import { COMPATIBILITY_DATE, COMPATIBILITY_FLAGS } from "./lib/runtimes.ts";
import { webhooks } from "./m-webhooks.ts";
import { ranks } from "./r-ranks.ts";
import { content } from "./q-content.ts";
import { siteScores } from "./s-lighthouse.ts";
import { startUp } from "./n-start-up.ts";
import { bulkCodes } from "./p-bulk-codes.ts";
import { chatPanel } from "./t-chat-panel.ts";
import { tree } from "./u-tree.ts";
import { overlayTiming } from "./v-overlay-timing.ts";
import { eventLog } from "./w-event-log.ts";
import { studio } from "./x-studio.ts";
import { siteSearch } from "./y-search.ts";

interface Benchmark {
  title: string;
  /** `quick` is for trying it out: few, short and small rounds. */
  run: (quick: boolean) => Promise<Result>;
  /** Whether it measures a page. Chromium's processes need more than one core, as on a reader's machine. */
  inBrowser?: boolean;
}

const BENCHMARKS: Record<string, Benchmark> = {
  A: { title: "HTTP layer", run: httpLayer },
  B: { title: "Reading a page", run: pageRead },
  C: { title: "Chat", run: chat },
  F: { title: "Broadcast to one channel", run: broadcast },
  G: { title: "Bursts", run: bursts },
  H: { title: "Two tiers", run: relays },
  I: { title: "Viewer counts", run: counts },
  J: { title: "Connect storm", run: connectStorm },
  M: { title: "Webhooks", run: webhooks },
  K: { title: "Votes", run: votes },
  L: { title: "Event to screen", run: eventToScreen },
  N: { title: "Bundle and start-up", run: startUp },
  Q: { title: "A page's content for a viewer", run: content },
  R: { title: "Leaderboard of a million", run: ranks },
  S: { title: "The site's Lighthouse scores", run: siteScores, inBrowser: true },
  P: { title: "Access codes in bulk", run: bulkCodes },
  T: { title: "The chat panel on a phone's CPU", run: chatPanel, inBrowser: true },
  U: { title: "A channel with branches", run: tree },
  V: { title: "From a picture to its overlay", run: overlayTiming, inBrowser: true },
  W: { title: "The event log of a site", run: eventLog },
  X: { title: "From Take to the last viewer", run: studio, inBrowser: true },
  Y: { title: "The site's search", run: siteSearch, inBrowser: true },
};

const USAGE = `Usage: npm run bench -- [A B …] [--quick]

Compares Tifo with the bare platform and its peers, in all benchmarks or in those that are named:

${Object.entries(BENCHMARKS)
  .map(([letter, { title }]) => `  ${letter}  ${title}`)
  .join("\n")}

  --quick  smaller, and without recording the results`;

await guard(async () => {
  const { values, positionals } = readOptions(USAGE, { options: { quick: { type: "boolean", default: false } }, allowPositionals: true });
  const chosen = positionals.length > 0 ? positionals.map((letter) => letter.toUpperCase()) : Object.keys(BENCHMARKS);
  if (!canPin) say("Processes can't be pinned to cores on this machine, so the results will vary more.");
  for (const letter of chosen) await runOne(letter, values.quick);
  if (values.quick) return;
  record("environment", environment(`compatibility date ${COMPATIBILITY_DATE}, flags ${COMPATIBILITY_FLAGS.join(", ")}`));
  await runOrFail("prettier", ["--write", "bench/RESULTS.md"]);
});
process.exit();

async function runOne(letter: string, quick: boolean): Promise<void> {
  const benchmark = BENCHMARKS[letter];
  if (!benchmark) throw new Problem(`There is no benchmark ${letter}; choose from ${Object.keys(BENCHMARKS).join(", ")}.`);
  // Before it runs for minutes.
  if (!quick) around(letter);
  say(`${letter}  ${benchmark.title}`);
  if (benchmark.inBrowser) unpin();
  else pinClient();
  const [started, loadBefore] = [Date.now(), load()];
  const result = await benchmark.run(quick);
  const day = new Date(started).toISOString().slice(0, 10);
  const processor = cpus()[0]?.model.trim() ?? "unknown processor";
  const took = `${day}, ${((Date.now() - started) / 1000).toFixed(0)} s, ${processor}, load average before ${loadBefore}, after ${load()}`;
  const text = markdown({ ...result, remarks: [...(result.remarks ?? []), took] });
  say(`\n${text}\n`);
  if (!quick) record(letter, text);
}
