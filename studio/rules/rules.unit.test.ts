import { describe, expect, test } from "vitest";
import { MOST_ITEMS } from "#sdk/client/lists.ts";
import {
  conditionText,
  draftOf,
  deletedTarget,
  NEW_RULE,
  operatorsFor,
  problemsOf,
  type Provider,
  type Rule,
  ruleOf,
  typedValue,
} from "./draft.ts";
import { momentOf, parseRecording, rowsOf } from "./recording.ts";

const provider: Provider = {
  _id: "p",
  name: "Match data",
  description: "",
  facts: ["match.score.home", "match.kind", "match.live"],
  factTypes: { "match.score.home": "number", "match.kind": "string", "match.live": "boolean" },
  realtime: true,
  ttl: null,
  disabledReason: null,
  tags: [],
  created: 1,
  modified: 1,
};

const rule: Rule = {
  _id: "r",
  siteId: "s",
  name: "Home goal",
  channelId: "c",
  active: true,
  clientRule: false,
  created: 1,
  modified: 1,
  jsonRule: {
    trigger: { dataProviderId: "p", fact: "match.score.home", operator: "greater_than", value: 0, behavior: "delayed", delaySeconds: 8 },
    action: {
      type: "SEND_OVERLAY",
      targeting: { scope: "specific_channels", target: { type: "static", value: ["c", "d"] }, segment: "viewers_all", priority: 10 },
      templateId: "t",
      variableMapping: {
        scorer: { type: "dynamic", value: "match.scorer" },
        minute: { type: "static", value: 7 },
        shirt: { type: "static", value: "7" },
        late: { type: "static", value: true },
      },
      timecodeMapping: { type: "dynamic", value: "match.clock" },
      broadcastPayload: { sound: "horn" },
    },
  },
};

describe("the form of a rule", () => {
  test("saves what it was filled from, with what it doesn't show and each value's type", () => {
    expect(ruleOf(draftOf(rule), provider, rule)).toEqual(rule.jsonRule);
  });

  test.each([
    { type: "LOCK_POLL", pollId: "q" } as const,
    { type: "CREATE_CHANNEL", name: { type: "dynamic", value: "match.name" } } as const,
  ])("saves the action $type unchanged", (action) => {
    const other: Rule = { ...rule, jsonRule: { ...rule.jsonRule, action } };
    expect(ruleOf(draftOf(other), provider, other).action).toEqual(action);
  });

  test("tells when what it shows or closes has been deleted, as far as that is known", () => {
    const closing: Rule["jsonRule"] = { ...rule.jsonRule, action: { type: "LOCK_POLL", pollId: "q" } };
    const some = [{ _id: "t" }, { _id: "q" }];
    const many = Array.from({ length: MOST_ITEMS }, (_, index) => ({ _id: String(index) }));
    for (const [known, isGone] of [
      [some, false],
      [[{ _id: "other" }], true],
      [[], true],
      [many, false],
      [undefined, false],
    ] as const) {
      expect(deletedTarget(rule.jsonRule, { templates: known, polls: some })).toBe(isGone ? "Template" : null);
      expect(deletedTarget(closing, { templates: some, polls: known })).toBe(isGone ? "Poll" : null);
    }
    const creating: Rule["jsonRule"] = {
      ...rule.jsonRule,
      action: { type: "CREATE_CHANNEL", name: { type: "dynamic", value: "match.name" } },
    };
    expect(deletedTarget(creating, { templates: [], polls: [] })).toBeNull();
  });

  test("drops what belonged to another template", () => {
    const { action } = ruleOf({ ...draftOf(rule), templateId: "other", variables: {} }, provider, rule);
    expect(action).toMatchObject({ templateId: "other", variableMapping: {} });
    expect(action).not.toHaveProperty("broadcastPayload");
  });

  test("compares with a value of the fact's type", () => {
    expect([
      typedValue("2", "number", "equals"),
      typedValue("2", "string", "equals"),
      typedValue("true", "boolean", "equals"),
      typedValue("x", "any", "equals"),
      typedValue("3,5", "any", "equals"),
    ]).toEqual([2, "2", true, "x", 3.5]);
  });

  test("offers the comparisons that make sense for a fact", () => {
    expect(operatorsFor("number")[0]).toBe("greater_than");
    expect(operatorsFor("array")).toEqual(["contains"]);
  });

  test("names what is missing at the server's paths", () => {
    expect(Object.keys(problemsOf(NEW_RULE, undefined))).toEqual([
      "name",
      "jsonRule.trigger.dataProviderId",
      "jsonRule.trigger.fact",
      "jsonRule.trigger.value",
      "jsonRule.action.templateId",
      "channelId",
    ]);
    expect(problemsOf(draftOf(rule), provider)).toEqual({});
  });

  test("is a sentence in the list", () => {
    expect(conditionText(rule.jsonRule)).toBe("match.score.home rises above 0, 8 s later");
  });
});

describe("a recorded match", () => {
  test("is a list of events, the API's own list, or one event a line; other lines are ignored", () => {
    const events = [{ match: { minute: 1 } }, { match: { minute: 2 } }];
    expect(parseRecording(JSON.stringify(events))).toEqual(events);
    expect(parseRecording(events.map((event) => JSON.stringify(event)).join("\n") + "\n\noops\n")).toEqual(events);
    // The API lists the newest first.
    expect(parseRecording(JSON.stringify({ results: events.toReversed().map((event) => ({ _id: "x", event })) }))).toEqual(events);
    expect(parseRecording("oops")).toEqual([]);
  });

  test("has a row per event with every rule that it fires", () => {
    const result = (fired: boolean, event: Record<string, unknown>) => ({
      ...{ event, fired, broadcasts: [], channel: null, delaySeconds: 0, message: null },
    });
    const other = { ...rule, _id: "o", name: "Other" };
    const [first, second] = [{ match: { minute: 1 } }, { match: { minute: 2 } }];
    const rows = rowsOf([
      { rule, results: [result(true, first), result(false, second)] },
      { rule: other, results: [result(true, first), result(true, second)] },
    ]);
    expect(rows.map(({ position, fired }) => [position, fired.map(({ rule: { name } }) => name)])).toEqual([
      [1, ["Home goal", "Other"]],
      [2, ["Other"]],
    ]);
  });

  test("shows an event by its plain values", () => {
    expect(momentOf({ match: { minute: 17, tags: ["x"], score: { home: 1 } } })).toBe("minute 17 · home 1");
  });
});
