// `npm run soak`: what takes too long for `npm test`. Each run says in one line what it saw, and fails the command where that is wrong.
import { type ChaosOptions, surviveChaos } from "../test/browser/channel-chaos.ts";
import { scoreUnderKills } from "../test/browser/rule-kills.ts";
import { changeUnderKills } from "../test/browser/webhook-kills.ts";
import { guard, Problem, say } from "./lib/report.mjs";

const RUNS: (() => Promise<void>)[] = [
  () => rules(10, 10),
  () => webhooks(10, 40),
  () => webhooks(1, 10_000),
  () => channel({ clients: 200, seconds: 60, kills: 3 }),
];

await guard(async () => {
  for (const run of RUNS) await run();
});
process.exit();

/** A provider's events while the server is killed so many times between one of them and its overlay. */
async function rules(kills: number, goalsPerRun: number): Promise<void> {
  const { goals, ...wrong } = await scoreUnderKills(kills, goalsPerRun);
  judge(`${kills} kills, ${goals} goals`, wrong);
}

/** Webhooks while the server is killed so many times, each after some changes. */
async function webhooks(kills: number, changes: number): Promise<void> {
  const { acknowledged, requests, ...wrong } = await changeUnderKills(kills, changes);
  judge(`${kills} kills, ${acknowledged} changes, ${requests} deliveries`, wrong);
}

/** Clients of a channel while sockets are cut and the server is killed. */
async function channel(options: ChaosOptions): Promise<void> {
  const { acknowledged, logged, connections, ...wrong } = await surviveChaos(options);
  judge(`${options.clients} clients, ${connections} connections, ${options.kills} kills, ${acknowledged} of ${logged} frames`, wrong);
}

function judge(what: string, wrong: object): void {
  say(`${what}: ${JSON.stringify(wrong)}`);
  if (Object.values(wrong).some((list) => !Array.isArray(list) || list.length > 0))
    throw new Problem("Something was lost or out of order.");
}
