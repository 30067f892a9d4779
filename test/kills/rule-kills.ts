import { rm } from "node:fs/promises";
import { setTimeout as sleep } from "node:timers/promises";
import { MATCH_DATA } from "#db/demo/automation.ts";
import { SITE_A } from "#db/demo/match-day.ts";
import { GOAL_TEMPLATE } from "#db/demo/overlays.ts";
import { bodyOf, sendSigned } from "#scripts/lib/match/api.ts";
import type { Server } from "#scripts/lib/server.ts";
import { startServer, temporaryState } from "#test/browser/server.ts";
import { Viewer } from "#test/browser/viewer.ts";

/** The minimum duration of a goal's two requests in ms, during which the server is killed. */
const REQUESTS_MS = 40;

export interface Outcome {
  goals: number;
  /** Goals without an overlay. */
  lost: number[];
  /** Goals with more than one overlay. */
  twice: number[];
}

/**
 * Sends goals one after another while the server is killed this many times, each time during a goal. The provider repeats requests
 * without a response. Returns what a viewer who always reconnects was shown.
 */
export async function scoreUnderKills(kills: number, goalsPerRun: number): Promise<Outcome> {
  const state = await temporaryState();
  const viewer = new Viewer();
  let server = await startServer({ state });
  let sent = 0;
  try {
    await extendGoalOverlay(server);
    await viewer.connect(server);
    for (let run = 0; run < kills; run++) {
      for (let goal = 0; goal < goalsPerRun; goal++) await sendGoal(server, sent++);
      await Promise.all([sendGoal(server, sent).catch(() => undefined), sleep(Math.random() * REQUESTS_MS).then(() => server.kill())]);
      server = await startServer({ state });
      await viewer.connect(server);
      await sendGoal(server, sent++);
    }
    const goals = Array.from({ length: sent }, (_, goal) => goal);
    const times = (goal: number): number => viewer.shown.filter(({ variables }) => variables.minute === goal).length;
    await Promise.race([viewer.until(() => goals.every((goal) => times(goal) > 0)), timeout()]);
    return { goals: sent, lost: goals.filter((goal) => times(goal) === 0), twice: goals.filter((goal) => times(goal) > 1) };
  } finally {
    viewer.close();
    await server.kill();
    await rm(state, { recursive: true, force: true, maxRetries: 5 });
  }
}

/** Makes the goal overlay outlast the restarts, so that a viewer who reconnects always receives it. */
async function extendGoalOverlay(server: Server): Promise<void> {
  const contents = [{ kind: "html", html: "{{scorer}} {{minute}}", position: "center" }];
  const { ok, status } = await fetch(`${server.url}/overlay/v1/${GOAL_TEMPLATE}`, {
    method: "PUT",
    headers: { "Tifo-Client-Id": SITE_A, "Tifo-Developer-Key": "tifo_dev_demo", "Content-Type": "application/json" },
    body: JSON.stringify({ name: "Goal", description: "", siteId: SITE_A, type: "template", duration: 3600, contents }),
  });
  if (!ok) throw new Error(`Updating the overlay failed with ${status}`);
}

/** Sends a quiet moment and a goal, since a rule fires on the change. The minute contains the goal's number. */
async function sendGoal(server: Server, goal: number): Promise<void> {
  const moments = { quiet: { minute: goal, goal: "none" }, goal: { minute: goal, goal: "home", scorer: "Ada Moreno" } };
  for (const [name, moment] of Object.entries(moments))
    bodyOf(await sendSigned(server.url, MATCH_DATA, `${name}-${goal}`, { match: { id: "killed", ...moment } }));
}

/** Limits a failing wait; the site's log or an alarm normally deliver within seconds. */
function timeout(): Promise<void> {
  return sleep(300_000, undefined, { ref: false });
}
