import { describe, expect, test } from "vitest";
import { draftOf, inputOf, problemsOf } from "./draft.ts";
import type { Item, Overlay } from "./model.ts";
import { fieldsOf, overrides, parseValue } from "./variables.ts";

const NOW = Date.UTC(2026, 10, 22, 12);
const common = { name: "Goal", notes: "Wait for the referee", at: NOW + 3_600_000 };
const ITEMS: Item[] = [
  {
    ...common,
    _id: "1",
    kind: "broadcast",
    overlayId: "o",
    broadcast: { priority: 3, duration: 8, tagId: "team:home", variables: { minute: 17 } },
  },
  { ...common, _id: "2", kind: "poll", pollId: "p", action: "settle", correctAnswerId: "a" },
  { ...common, _id: "3", kind: "quest", questId: "q", action: "close" },
  { ...common, _id: "4", kind: "raffle", questId: "q", winners: 3 },
  { ...common, _id: "5", kind: "stream", streamId: "s", action: "stop" },
  { ...common, _id: "6", kind: "wait", seconds: 10 },
  { ...common, _id: "7", kind: "note", at: null },
];

describe("the form of an item", () => {
  test.each(ITEMS)("keeps everything of a $kind that isn't changed", (item) => {
    expect(problemsOf(draftOf(item), NOW)).toEqual({});
    expect(inputOf(draftOf(item), item)).toEqual(item);
  });

  test("drops what belonged to another overlay", () => {
    const [goal] = ITEMS;
    if (!goal) throw new Error("No item");
    const changed = inputOf({ ...draftOf(goal), targetId: "other", variables: {}, duration: "" }, goal);
    expect(changed).toMatchObject({ overlayId: "other", broadcast: { priority: 0 } });
    expect(JSON.stringify(changed)).not.toContain("team:home");
  });

  test("names each field that is missing or impossible", () => {
    expect(problemsOf(draftOf(null), NOW)).toEqual({ name: "Give it a name.", targetId: "Choose one." });
    const wait = { ...draftOf(null), kind: "wait" as const, name: "Wait" };
    expect(Object.keys(problemsOf({ ...wait, seconds: "0" }, NOW))).toEqual(["seconds"]);
    expect(Object.keys(problemsOf({ ...wait, at: "2020-01-01T00:00" }, NOW))).toEqual(["at"]);
    expect(Object.keys(problemsOf({ ...wait, kind: "raffle", targetId: "q", winners: "1.5" }, NOW))).toEqual(["winners"]);
  });
});

describe("the variables of an overlay", () => {
  const contents: Overlay["contents"] = [
    {
      kind: "html",
      html: "{{scorer}} {{#if own}}{{else}}{{/if}} {{~ minute ~}} {{{late}}}",
      position: "center",
      variables: { scorer: "Ada", minute: 1 },
    },
  ];
  const overlay: Overlay = {
    ...{ _id: "o", siteId: "s", name: "Goal", description: "", type: "template", duration: 8, contents, cta: null },
    ...{ created: 0, modified: 0 },
  };

  test("are those with a default and those that its html asks for, with what the item gives", () => {
    expect(fieldsOf(overlay, { minute: 90 })).toEqual([
      { name: "scorer", value: "Ada" },
      { name: "minute", value: 90 },
      { name: "late", value: "" },
    ]);
  });

  test("of a kit's template are the placeholders in it, or all without any", () => {
    const kit = (variables: Record<string, string | number>): Overlay => {
      return { ...overlay, contents: [{ kind: "kit", template: "scorebug", position: "topLeft", variables }] };
    };
    expect(fieldsOf(kit({ homeName: "Harbour City", homeScore: "{{home}}", home: 0 }))).toEqual([{ name: "home", value: 0 }]);
    expect(fieldsOf(kit({ homeName: "Harbour City" }))).toEqual([{ name: "homeName", value: "Harbour City" }]);
  });

  test("keep their type", () => {
    expect([parseValue("17", 1), parseValue("1,5", 1), parseValue("x", 1), parseValue("", 1)]).toEqual([17, 1.5, undefined, undefined]);
    expect([parseValue("17", "a"), parseValue("true", false)]).toEqual(["17", true]);
  });

  test("are sent only if they differ from the item's own", () => {
    expect(overrides({ scorer: "Ada", minute: 1 }, { scorer: "Ada", minute: 2 })).toEqual({ minute: 2 });
    expect(overrides({ scorer: "Ada" }, { scorer: "Ada" })).toBeUndefined();
  });
});
