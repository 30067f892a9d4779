// `npm run soak`: what takes too long for `npm test`: webhooks while the server is killed ten times, and 10,000 events of one site.
import { changeUnderKills } from "../test/browser/webhook-kills.ts";
import { guard, Problem, say } from "./lib/report.mjs";

const RUNS = [
  { kills: 10, changes: 40 },
  { kills: 1, changes: 10_000 },
];

await guard(async () => {
  for (const { kills, changes } of RUNS) {
    const { acknowledged, requests, ...lost } = await changeUnderKills(kills, changes);
    say(`${kills} kills, ${acknowledged} changes, ${requests} deliveries: ${JSON.stringify(lost)}`);
    if (Object.values(lost).some((list) => list.length > 0)) throw new Problem("Webhooks lost events or their order.");
  }
});
process.exit();
