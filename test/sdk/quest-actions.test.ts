import { afterEach, beforeEach, describe, expect, test, vi } from "vitest";
import { labelOfStep, type QuestAction, stepOf } from "#sdk/core/quest-actions.ts";
import type { WatchedEvent } from "#sdk/core/event.ts";
import { EventWorld, POLL, PREDICTOR, QUEST } from "./event-world.ts";
import { ENGLISH_TEXTS } from "../../sdk/i18n/texts.ts";

const LINK = "https://demo.example/report";

let event: WatchedEvent;
let world: EventWorld;

beforeEach(async () => {
  world = new EventWorld();
  vi.stubGlobal("fetch", world.fetch);
  event = await world.watchLoaded();
});

afterEach(() => {
  event.stop();
});

function action(kind: string, change: Partial<QuestAction> = {}): QuestAction {
  return { arrayId: "a1B2c3D4e", body: "Do it", kind, current: 0, required: 1, done: false, ...change };
}

describe("the button of a quest's action", () => {
  test.each([
    ["open:link", { callToAction: LINK }, "open_link", { url: LINK }, true],
    ["open:link", { callToAction: "Read it", value: LINK }, "open_link", { url: LINK }, true],
    ["retweet", { callToAction: LINK }, "open_link", { url: LINK }, true],
    ["share:facebook:video", { callToAction: LINK }, "facebook_share", { url: LINK }, true],
    ["quest:view", { callToAction: LINK }, "open_link", { url: LINK }, true],
    ["view:panel", { callToAction: "See", value: PREDICTOR }, "show_panel", { panelId: PREDICTOR }, false],
    ["view:panel", { callToAction: PREDICTOR }, "show_panel", { panelId: PREDICTOR }, false],
    ["watch:specific:video", { callToAction: "Watch", value: "v1" }, "play_video", { videoId: "v1" }, false],
    ["answer:predictions:specific", { callToAction: "Make your call", value: POLL }, "show_panel", { panelId: PREDICTOR }, false],
  ])("of %s with %j leads to its target, and reports what the server can't see", (kind, change, type, data, reports) => {
    expect(stepOf(action(kind, change), event)).toMatchObject({ call: { type, data }, reports });
  });

  test("of a quest to view needs no URL", () => {
    expect(stepOf(action("quest:view"), event)).toEqual({ reports: true, label: "Mark as seen" });
  });

  test.each([
    ["open:link", { callToAction: "Open" }],
    ["open:link", { callToAction: "javascript:alert(1)" }],
    ["view:panel", {}],
    ["view:panel", { value: "5eed0000000000000000d999" }],
    ["answer:polls:specific", { value: "5eed00000000000000006999" }],
    ["answer:polls:any", {}],
    ["watch:any:video", {}],
    ["impossible", { callToAction: LINK }],
  ])("doesn't exist for %s with %j", (kind, change) => {
    expect(stepOf(action(kind, change), event)).toBeNull();
  });

  test("uses the action's own text unless it is a URL or an id", () => {
    const label = (callToAction: string) => {
      const one = action("open:link", { callToAction, value: LINK });
      const step = stepOf(one, event);
      return step && labelOfStep(one, step, ENGLISH_TEXTS.t);
    };
    expect(label("Read it")).toBe("Read it");
    expect(label(LINK)).toBe("Open");
    expect(label(POLL)).toBe("Open");
  });
});

describe("a quest's actions", () => {
  test("contain their text and target, except a wildcard", async () => {
    const actions = [
      { arrayId: "watchTen1", body: "Watch ten minutes", callToAction: "Watch", validationValue: "*" },
      { arrayId: "openLink1", body: "Open", callToAction: null, validationValue: LINK },
    ];
    const done = { kind: "open:link", current: 0, required: 1, done: false };
    world.rest[`GET /quest/v2/${QUEST}`] = () => ({ _id: QUEST, title: "", description: "", rewardDescription: "", actions });
    world.rest[`GET /quest/v2/${QUEST}/progress`] = () => ({
      questId: QUEST,
      complete: false,
      actions: actions.map(({ arrayId }) => ({ arrayId, ...done })),
    });
    const viewer = await world.watchLoaded({ getUserToken: () => "a.b.c" });
    expect(viewer.getSnapshot().quests[QUEST]?.actions).toEqual([
      { arrayId: "watchTen1", body: "Watch ten minutes", callToAction: "Watch", value: undefined, ...done },
      { arrayId: "openLink1", body: "Open", callToAction: undefined, value: LINK, ...done },
    ]);
    viewer.stop();
  });
});
