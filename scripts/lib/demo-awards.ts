import { demoAwards, SEASON_BOARD } from "#db/demo/leaderboards.ts";
import { SITE_A } from "#db/demo/match-day.ts";
import { say } from "./report.mjs";

/** Gives the demo's leaderboard its members. Safe to repeat: each award counts once. */
export async function loadDemoAwards(url: string): Promise<void> {
  const response = await fetch(`${url}/leaderboard/v1/${SEASON_BOARD}/awards`, {
    method: "POST",
    headers: { "Content-Type": "application/json", "Tifo-Client-Id": SITE_A, "Tifo-Developer-Key": "tifo_dev_demo" },
    body: JSON.stringify({ awards: demoAwards() }),
  });
  // Somebody may have deleted the demo's leaderboard or its key.
  if (!response.ok) say(`The demo's leaderboard stays empty: ${response.status} ${await response.text()}`);
}
