// `npm run soak`: runs that take too long for `npm test`. Each prints its result in one line, and fails the command if it is wrong.
import { countOverKill } from "#bench/k-votes.ts";
import { chatUnderKills } from "#test/kills/chat-kills.ts";
import { takeUnderKills } from "#test/kills/rundown-kills.ts";
import { scoreUnderKills } from "#test/kills/rule-kills.ts";
import { changeUnderKills } from "#test/kills/webhook-kills.ts";
import { build } from "./lib/build.ts";
import { runOrFail } from "./lib/command.ts";
import { guard, Problem, say } from "./lib/report.mjs";

const RUNS: (() => Promise<void>)[] = [
  () => rules(10, 10),
  () => takes(10, 15),
  votes,
  () => webhooks(10, 40),
  () => webhooks(1, 10_000),
  () => chat(10, 200),
  apps,
  channel,
  overlays,
  output,
];

await guard(async () => {
  await build();
  for (const run of RUNS) await run();
});
process.exit();

/** A provider's events, while the server is killed repeatedly between an event and its overlay. */
async function rules(kills: number, goalsPerRun: number): Promise<void> {
  const { goals, ...wrong } = await scoreUnderKills(kills, goalsPerRun);
  judge(`${kills} kills, ${goals} goals`, wrong);
}

/** Two operators of a rundown, while the server is killed repeatedly during a take. */
async function takes(kills: number, takesPerRun: number): Promise<void> {
  const { takes: taken, ...wrong } = await takeUnderKills(kills, takesPerRun);
  judge(`${kills} kills, ${taken} takes`, wrong);
}

/** Votes across a kill; those without a response are retried, and the tally must be exact. */
async function votes(): Promise<void> {
  say(await countOverKill(20_000));
}

/** Webhooks while the server is killed repeatedly, each time after some changes. */
async function webhooks(kills: number, changes: number): Promise<void> {
  const { acknowledged, requests, ...wrong } = await changeUnderKills(kills, changes);
  judge(`${kills} kills, ${acknowledged} changes, ${requests} deliveries`, wrong);
}

/** A chat while the server is killed repeatedly: no message, removal or ban with a response is lost. */
async function chat(kills: number, messagesPerRun: number): Promise<void> {
  const { acknowledged, removals, bans, ...wrong } = await chatUnderKills(kills, messagesPerRun);
  judge(`${kills} kills, ${acknowledged} messages, ${removals} removals, ${bans} bans`, wrong);
}

/** The SDK's package in new Vite and Next.js apps from the registry. */
async function apps(): Promise<void> {
  say((await runOrFail("node", ["scripts/soak-apps.ts"])).trim());
}

/** Clients of a channel while sockets are cut and the server is killed. A separate script, because it uses the SDK, whose code is for browsers. */
async function channel(): Promise<void> {
  say((await runOrFail("node", ["scripts/soak-channel.ts"])).trim());
}

/** 20 overlays a second on a page in Chromium for ten minutes. */
async function overlays(): Promise<void> {
  say((await runOrFail("node", ["scripts/soak-overlays.ts"])).trim());
}

/** The output page of a mixer in Chromium at 1080p60: one overlay a second for ten minutes, without a dropped frame. */
async function output(): Promise<void> {
  say((await runOrFail("node", ["scripts/soak-output.ts"])).trim());
}

function judge(what: string, wrong: object): void {
  say(`${what}: ${JSON.stringify(wrong)}`);
  if (Object.values(wrong).some((list) => !Array.isArray(list) || list.length > 0))
    throw new Problem("Something was lost or out of order.");
}
