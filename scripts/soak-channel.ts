// Part of `npm run soak`: 200 clients of a channel for a minute, while their sockets are cut and the server is killed three times.
import { surviveChaos } from "../test/browser/channel-chaos.ts";
import { say } from "./lib/report.mjs";

const OPTIONS = { clients: 200, seconds: 60, kills: 3 };

const { acknowledged, logged, connections, lost, wrong } = await surviveChaos(OPTIONS);
say(`${OPTIONS.clients} clients, ${connections} connections, ${OPTIONS.kills} kills, ${acknowledged} of ${logged} frames acknowledged`);
say(JSON.stringify({ lost, wrong }));
process.exit(lost.length + wrong.length === 0 ? 0 : 1);
