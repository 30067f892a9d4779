import { expect, test } from "vitest";
import { RECORDED_MATCH } from "#db/demo/recorded-match.ts";
import { linesFor } from "./chat-lines.ts";

const byMoment = RECORDED_MATCH.map((moment, index) => ({ moment, lines: linesFor(moment, index) }));

test("supporters write about every moment of the match, and most about a goal, naming its scorer", () => {
  for (const { lines } of byMoment) expect(lines.length).toBeGreaterThan(0);
  const goals = byMoment.filter(({ moment }) => moment.kind === "goal");
  expect(goals.map(({ moment, lines }) => lines[0]?.text.includes(moment.player?.split(" ").at(-1) ?? "?"))).toEqual([true, true, true]);
  const busiest = Math.max(...byMoment.filter(({ moment }) => moment.kind !== "goal").map(({ lines }) => lines.length));
  for (const { lines } of goals) expect(lines.length).toBeGreaterThanOrEqual(busiest);
});

test("every line is a complete sentence by a supporter who writes under a name, and nobody reacts to their own", () => {
  for (const { text, fan, reactions, reply } of byMoment.flatMap(({ lines }) => lines)) {
    expect(text).not.toMatch(/[{}]|undefined/);
    expect(fan).toBeLessThan(20);
    expect(reactions?.count ?? 0).toBeLessThan(20);
    expect(reply?.fan).not.toBe(fan);
  }
});
