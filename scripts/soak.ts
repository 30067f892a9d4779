import { countOverKill } from "#bench/k-votes.ts";
import "#test/browser/fetch-setup.ts";
import prepareServers from "#test/browser/server-setup.ts";
import { chatUnderKills } from "#test/kills/chat-kills.ts";
import { takeUnderKills } from "#test/kills/rundown-kills.ts";
import { scoreUnderKills } from "#test/kills/rule-kills.ts";
import { soak } from "#test/soak/soak.ts";
import { upgradeUnderLoad } from "#test/kills/upgrade.ts";
import { changeUnderKills } from "#test/kills/webhook-kills.ts";
import { build } from "./lib/build.ts";
import { runOrFail } from "./lib/command.ts";
import { withMemoryFolder } from "./lib/memory-folder.ts";
import { readOptions } from "./lib/options.ts";
import { type Figure, writeRecord } from "./lib/records.ts";
import { guard, Problem, say } from "./lib/report.mjs";

const RUNS: Record<string, () => Promise<void>> = {
  rules: () => rules(10, 10),
  takes: () => takes(10, 15),
  votes,
  webhooks: () => webhooks("Webhooks while the server is killed", 10, 40),
  backlog: () => webhooks("Many webhooks across a kill", 1, 10_000),
  chat: () => chat(10, 200),
  upgrade: () => upgrade(20),
  sandboxes: () => sandboxes(100, 100),
  shards: secondShard,
  apps,
  starters,
  channel,
  mix: () => mix(MIX_MINUTES),
  overlays,
  output,
};

/** How much memory and storage may grow from the first half of a run to the second, and from how many readings on it is judged. */
const MAX_GROWTH = 1.3;
const MIN_KILLS = 10;
/** How long the mix takes among all runs. */
const MIX_MINUTES = 20;

const figures: Figure[] = [];
const USAGE = `Usage: npm run soak -- [${Object.keys(RUNS).join("|")} …] [--hours 1 | --minutes 20]

Runs that take too long for npm test: all, or those that are named. Each prints its result in one line, and fails the command if it is wrong.

  --hours, --minutes  only the mix, for that time`;

await guard(async () => {
  const { values, positionals } = readOptions(USAGE, {
    options: { hours: { type: "string", default: "0" }, minutes: { type: "string", default: "0" } },
    allowPositionals: true,
  });
  const runs = selectedRuns(positionals, Number(values.hours) * 60 + Number(values.minutes));
  await build();
  const removePrepared = await prepareServers();
  try {
    for (const run of runs) await run();
  } finally {
    await removePrepared?.();
  }
  writeRecord("soak", figures, runs.length === Object.keys(RUNS).length ? "all" : "some");
});
process.exit();

/** All runs, or those that the arguments name. A time selects the mix. */
function selectedRuns(names: string[], minutes: number): (() => Promise<void>)[] {
  if (!Number.isFinite(minutes) || minutes < 0) throw new Problem("--hours and --minutes take a number.");
  if (minutes > 0) return [() => mix(minutes)];
  if (names.length === 0) return Object.values(RUNS);
  return names.map((name) => {
    const run = RUNS[name];
    if (!run) throw new Problem(`There is no run ${name}. There are: ${Object.keys(RUNS).join(", ")}.`);
    return run;
  });
}

/** Everything at once, while bindings fail, objects are evicted, the clock jumps and the server is killed. */
async function mix(minutes: number): Promise<void> {
  const { kills, lanes, levels } = await soak(minutes, say);
  const acknowledged = Object.entries(lanes).map(([name, { acknowledged: count }]) => `${count} ${name}`);
  const wrong = Object.fromEntries(Object.entries(lanes).map(([name, outcome]) => [name, outcome.wrong]));
  const { memoryGrowth, storageGrowth, megabytes } = levels;
  report(
    "Everything at once: memory and storage",
    `memory ${megabytes.memory} MB, ${memoryGrowth} times that of the first half; storage ${megabytes.stored} MB, ${storageGrowth} times as much per step`,
  );
  judge("Everything at once, under faults", `${minutes} minutes, ${kills} kills, ${acknowledged.join(", ")}`, wrong);
  // A short run has too few readings to tell growth from noise.
  if (kills >= MIN_KILLS && Math.max(memoryGrowth, storageGrowth) > MAX_GROWTH) throw new Problem("Memory or storage doesn't level off.");
}

/** A provider's events, while the server is killed repeatedly between an event and its overlay. */
async function rules(kills: number, goalsPerRun: number): Promise<void> {
  const { goals, ...wrong } = await scoreUnderKills(kills, goalsPerRun);
  judge("Rules while the server is killed", `${kills} kills, ${goals} goals`, wrong);
}

/** Two operators of a rundown, while the server is killed repeatedly during a take. */
async function takes(kills: number, takesPerRun: number): Promise<void> {
  const { takes: taken, ...wrong } = await takeUnderKills(kills, takesPerRun);
  judge("Takes of a rundown while the server is killed", `${kills} kills, ${taken} takes`, wrong);
}

/** Votes across a kill; those without a response are retried, and the tally must be exact. */
async function votes(): Promise<void> {
  report("Votes across a kill", await countOverKill(20_000));
}

/** Webhooks while the server is killed repeatedly, each time after some changes. */
async function webhooks(label: string, kills: number, changes: number): Promise<void> {
  const { acknowledged, requests, ...wrong } = await changeUnderKills(kills, changes);
  judge(label, `${kills} kills, ${acknowledged} changes, ${requests} deliveries`, wrong);
}

/** A chat while the server is killed repeatedly: no message, removal or ban with a response is lost. */
async function chat(kills: number, messagesPerRun: number): Promise<void> {
  const { acknowledged, removals, bans, ...wrong } = await chatUnderKills(kills, messagesPerRun);
  judge("Chat while the server is killed", `${kills} kills, ${acknowledged} messages, ${removals} removals, ${bans} bans`, wrong);
}

/** Clients of a server that is upgraded from the previous release: so many seconds before, between and after the two steps. */
async function upgrade(seconds: number): Promise<void> {
  const { acknowledged, ...wrong } = await upgradeUnderLoad(seconds);
  judge("An upgrade from the previous release under load", `acknowledged ${JSON.stringify(acknowledged)}`, wrong);
}

/** Sandboxes whose lifetime passes by a simulated clock, so many at a time: no generation leaves more than the one before. */
async function sandboxes(generations: number, capacity: number): Promise<void> {
  const env = { TIFO_TEST_SANDBOXES: String(capacity), TIFO_TEST_SANDBOX_GENERATIONS: String(generations) };
  await vitest(["--project", "isolated", "test/isolated/sandbox-generations.test.ts"], env);
  const created = (generations * capacity).toLocaleString("en-GB");
  report("Sandboxes", `${created} sandboxes, ${capacity} at a time: each generation has as many rows as the first, and leaves none`);
}

/** The tests of the API with every new site on a second shard, as `npm run test:shards`. */
async function secondShard(): Promise<void> {
  await vitest(["--project", "api", "--project", "isolated"], { TIFO_TEST_SHARD: "2" });
  report("Sites on a second shard", "every test of the API and of single Workers passes");
}

/** The SDK's package in new Vite and Next.js apps from the registry. */
async function apps(): Promise<void> {
  report("The SDK in new apps", (await runOrFail("node", ["scripts/soak-apps.ts"])).trim());
}

/** The projects of `tifo init`, with packages from the registry. */
async function starters(): Promise<void> {
  report("Projects of tifo init", (await runOrFail("node", ["scripts/soak-starters.ts"])).trim());
}

/** Clients of a channel while sockets are cut and the server is killed. A separate script, because it uses the SDK, whose code is for browsers. */
async function channel(): Promise<void> {
  report("Clients of a channel", (await runOrFail("node", ["scripts/soak-channel.ts"])).trim());
}

/** 20 overlays a second on a page in Chromium for ten minutes. */
async function overlays(): Promise<void> {
  report("A page with 20 overlays a second", (await runOrFail("node", ["scripts/soak-overlays.ts"])).trim());
}

/** The output page of a mixer in Chromium at 1080p60: one overlay a second for ten minutes, without a dropped frame. */
async function output(): Promise<void> {
  report("The output page of a mixer", (await runOrFail("node", ["scripts/soak-output.ts"])).trim());
}

async function vitest(args: string[], env: Record<string, string>): Promise<void> {
  await withMemoryFolder((memory) => runOrFail("vitest", ["run", ...args], { env: { ...env, ...memory } }));
}

/** Prints a result and stores it for the record. */
function report(label: string, value: string): void {
  say(value);
  figures.push({ label, value });
}

function judge(label: string, what: string, wrong: object): void {
  const isRight = Object.values(wrong).every((list) => Array.isArray(list) && list.length === 0);
  report(label, `${what}: ${isRight ? "nothing lost or out of order" : JSON.stringify(wrong)}`);
  if (!isRight) throw new Problem("Something was lost or out of order.");
}
