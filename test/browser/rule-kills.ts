import { rm } from "node:fs/promises";
import { setTimeout as sleep } from "node:timers/promises";
import { MATCH_DATA } from "#db/demo/automation.ts";
import { SITE_A } from "#db/demo/match-day.ts";
import { GOAL_TEMPLATE } from "#db/demo/overlays.ts";
import { bodyOf, sendSigned } from "#scripts/lib/match/api.ts";
import type { Server } from "#scripts/lib/server.ts";
import { startServer, temporaryState } from "./server.ts";
import { Viewer } from "./viewer.ts";

/** Milliseconds that a goal's two requests take at least, within which the server goes. */
const MIDST = 40;

export interface Outcome {
  goals: number;
  /** Goals of which no overlay came. */
  lost: number[];
  /** Goals of which more than one overlay came. */
  twice: number[];
}

/**
 * Tells of goals one after the other while the server is killed so many times, each in the midst of one. The provider repeats what wasn't
 * answered, as providers do. Answers what a viewer was shown who came back each time.
 */
export async function scoreUnderKills(kills: number, goalsPerRun: number): Promise<Outcome> {
  const state = await temporaryState();
  const viewer = new Viewer();
  let server = await startServer({ state });
  let told = 0;
  try {
    await showGoalsLong(server);
    await viewer.connect(server);
    for (let run = 0; run < kills; run++) {
      for (let goal = 0; goal < goalsPerRun; goal++) await tellGoal(server, told++);
      await Promise.all([tellGoal(server, told).catch(() => undefined), sleep(Math.random() * MIDST).then(() => server.kill())]);
      server = await startServer({ state });
      await viewer.connect(server);
      await tellGoal(server, told++);
    }
    const goals = Array.from({ length: told }, (_, goal) => goal);
    const times = (goal: number): number => viewer.shown.filter(({ variables }) => variables.minute === goal).length;
    await Promise.race([viewer.until(() => goals.every((goal) => times(goal) > 0)), patience()]);
    return { goals: told, lost: goals.filter((goal) => times(goal) === 0), twice: goals.filter((goal) => times(goal) > 1) };
  } finally {
    viewer.close();
    await server.kill();
    await rm(state, { recursive: true, force: true, maxRetries: 5 });
  }
}

/** Lets the overlay of a goal outlast the restarts, so that whoever comes back gets it in any case. */
async function showGoalsLong(server: Server): Promise<void> {
  const contents = [{ kind: "html", html: "{{scorer}} {{minute}}", position: "center" }];
  const { ok, status } = await fetch(`${server.url}/overlay/v1/${GOAL_TEMPLATE}`, {
    method: "PUT",
    headers: { "Tifo-Client-Id": SITE_A, "Tifo-Developer-Key": "tifo_dev_demo", "Content-Type": "application/json" },
    body: JSON.stringify({ name: "Goal", description: "", siteId: SITE_A, type: "template", duration: 3600, contents }),
  });
  if (!ok) throw new Error(`The overlay was answered ${status}`);
}

/** A quiet moment and a goal, since a rule fires on the change; the goal's number stands where its minute would. */
async function tellGoal(server: Server, goal: number): Promise<void> {
  const moments = { quiet: { minute: goal, goal: "none" }, goal: { minute: goal, goal: "home", scorer: "Ada Moreno" } };
  for (const [name, moment] of Object.entries(moments))
    bodyOf(await sendSigned(server.url, MATCH_DATA, `${name}-${goal}`, { match: { id: "killed", ...moment } }));
}

/** Ends only a wait that is in vain: the site's log or an alarm bring what comes at all within seconds. */
function patience(): Promise<void> {
  return sleep(300_000, undefined, { ref: false });
}
