import { expect, test } from "vitest";
import { demoDataProviders, demoRules, MATCH_DATA } from "#db/demo/automation.ts";
import { instanceProblems } from "#worker/integrations/json-schema.ts";
import { type KnownFacts, updateFacts } from "#worker/services/automation-rules/facts.ts";
import { triggeredRules, indexRules } from "#worker/services/automation-rules/rule-engine.ts";
import { lineOf, matchEvents } from "./play.ts";

const [provider] = await demoDataProviders({ TIFO_SECRET: "a secret that only this test uses, long enough to be one" });

test("every event of the recorded match matches the schema of the demo's provider", async () => {
  for (const event of matchEvents()) expect(await instanceProblems(provider?.schema ?? {}, { ...event })).toEqual([]);
});

test("each goal, each card and the whistles with a rule fire their rules, also in the next run", () => {
  const waiting = indexRules(demoRules()).get(MATCH_DATA) ?? new Map<string, never>();
  let known: KnownFacts = {};
  const firedIn = (run: number): string[] =>
    matchEvents().flatMap((data, index) => {
      const event = { id: `${run}-${String(index).padStart(2, "0")}`, at: index, data };
      const fired = triggeredRules(waiting, known, event, null);
      known = updateFacts(known, Object.keys(provider?.facts ?? {}), event);
      return fired.map(({ name }) => `${data.match.minute} ${name}`);
    });
  const fired = [
    "0 Kick-off",
    "17 Home goal",
    "17 The score after a goal",
    "23 Yellow card, when the replay is over",
    "40 Substitution",
    "45 Half-time look of the page",
    "45 Half-time",
    "46 Second half",
    "58 Goal against us, for away supporters only",
    "58 The score after a goal",
    "60 Substitution",
    "70 Yellow card, when the replay is over",
    "81 Substitution",
    "83 Home goal",
    "83 The score after a goal",
    "90 Studio after the match",
    "90 Full time",
    "90 Final result",
  ];
  expect(firedIn(1)).toEqual(fired);
  expect(firedIn(2)).toEqual(fired);
});

test("reports each event in a line", () => {
  const lines = matchEvents().map(lineOf);
  expect(lines[0]).toBe(" 0′  Kick-off: Harbour City 0–0 Old Dock");
  expect(lines).toContain("17′  GOAL! Ada Moreno. Harbour City 1–0 Old Dock");
  expect(lines).toContain("23′  Yellow card: Bo Kessler, Old Dock");
  expect(lines.at(-1)).toBe("90′  Full time: Harbour City 2–1 Old Dock");
});
