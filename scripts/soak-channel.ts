// Part of `npm run soak`: 200 clients of a channel for a minute, in Node and then in Chromium, while connections are cut, clocks jump,
// the channel's Durable Objects are evicted and the server is killed.
import { surviveChaos } from "#test/kills/channel-chaos.ts";
import { say } from "./lib/report.mjs";

const CHAOS = { clients: 200, seconds: 60, kills: 3, evictions: 2 };
let failed = false;

for (const where of ["node", "chromium"] as const) {
  const { acknowledged, logged, connections, lost, wrong } = await surviveChaos({ where, ...CHAOS });
  say(
    `${CHAOS.clients} clients in ${where}, ${connections} connections, ${CHAOS.kills} kills, ${CHAOS.evictions} evictions, ` +
      `${acknowledged} of ${logged} frames acknowledged`,
  );
  say(JSON.stringify({ lost, wrong }));
  failed ||= lost.length + wrong.length > 0;
}
process.exit(failed ? 1 : 0);
