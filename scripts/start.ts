import { resolve } from "node:path";
import { build } from "./lib/build.ts";
import { loadDemoAwards } from "./lib/demo-awards.ts";
import { fillDemoChat } from "./lib/demo-chat.ts";
import { readOptions } from "./lib/options.ts";
import { guard, Problem, say } from "./lib/report.mjs";
import { ROOT } from "./lib/root.mjs";
import { scheduledFailure } from "./lib/scheduled.ts";
import { requireFreePort, startServer } from "./lib/server.ts";
import { DEMO_SUPER_KEY, prepareState } from "./lib/state.ts";

const MINUTE_MS = 60_000;

const USAGE = `Usage: npm start

Builds whatever is out of date, then serves the API, the docs and the demo sites until it is stopped. Environment variables:

  PORT        the port, 8787 by default
  TIFO_STATE  the folder of the data, .wrangler/state by default`;

await guard(async () => {
  readOptions(USAGE, {});
  const port = wantedPort(process.env.PORT ?? "8787");
  const state = resolve(ROOT, process.env.TIFO_STATE ?? ".wrangler/state");

  await requireFreePort(port);
  await build();
  const secrets = await prepareState(state);
  const server = await startServer({ port, state, secrets });
  await loadDemoAwards(server.url);
  printSummary(server.url);
  fillDemoChat(server.url).catch((error: unknown) => say(`The demo's chat stays empty: ${String(error)}`));

  const cron = everyMinute(() => runScheduled(server.url));
  const reason = await Promise.race([stopRequested(), server.ended.then(() => "ended" as const)]);
  clearInterval(cron);
  if (reason === "ended") throw new Problem("The server has exited unexpectedly; see the output above.");
  await server.stop();
});
// The IPC channel to the parent process would keep this one alive.
if (process.connected) process.disconnect();

/** Resolves on a signal to stop, or when the parent process is gone. */
function stopRequested(): Promise<"requested"> {
  return new Promise((settle) => {
    if (process.connected === false) settle("requested");
    for (const event of ["SIGINT", "SIGTERM", "SIGHUP", "disconnect"]) process.on(event, () => settle("requested"));
  });
}

function wantedPort(text: string): number {
  const port = Number(text);
  if (!Number.isInteger(port) || port < 0 || port > 65_535) throw new Problem(`PORT must be a number up to 65535, not "${text}".`);
  return port;
}

/** Runs the work of production's cron, which the local runtime never fires by itself. */
async function runScheduled(url: string): Promise<void> {
  const failure = await scheduledFailure(url);
  if (failure !== undefined) say(`The scheduled work failed, and will run again in a minute: ${failure}`);
}

function everyMinute(work: () => Promise<void>): NodeJS.Timeout {
  void work();
  return setInterval(() => void work(), MINUTE_MS);
}

function printSummary(url: string): void {
  say(`
Tifo is running.

  Docs             ${url}
  Studio           ${url}/studio (sign in as the admin below)
  Getting started  ${url}/start
  REST reference   ${url}/api/rest
  OpenAPI          ${url}/openapi.json
  Email            .wrangler/tmp/email contains the text and HTML of every email (none leaves this machine)

Demo credentials (they exist only in this local database)

                   site A "demo"                          site B "rival"
  client id        5eed00000000000000000001               5eed00000000000000000002
  developer key    tifo_dev_demo                          tifo_dev_rival
  admin            admin@demo.example / demo-admin-pass   admin@rival.example / rival-admin-pass
  creator          creator@demo.example / demo-creator-pass
  viewer           viewer@demo.example / demo-viewer-pass
  global admin     global@demo.example / demo-global-pass (both sites)
  channels         5eed0000000000000000c001 (main-stage)  5eed0000000000000000c101
                   5eed0000000000000000c002 (backstage)
  super key        ${DEMO_SUPER_KEY}

Press Ctrl+C to stop.`);
}
