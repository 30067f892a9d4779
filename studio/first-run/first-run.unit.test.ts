import { describe, expect, test } from "vitest";
import { slugOf } from "#studio/app/slug.ts";
import { embedCode } from "./embed-code.ts";
import { doneSteps, opensFirstRun, STEPS, withoutFirstRun, withStep } from "./progress.ts";

const EMPTY: Parameters<typeof doneSteps>[0] = {};
const NOTHING = { channel: false, overlay: false };

describe("the first run", () => {
  test("opens on a site without a channel, and on no other site", () => {
    expect(opensFirstRun(EMPTY, 0)).toBe(true);
    expect(opensFirstRun(EMPTY, 1)).toBe(false);
  });

  test("resumes with the step after those that are done, also if somebody else has done them", () => {
    const begun = withStep(EMPTY, "site", NOTHING);
    expect(opensFirstRun(begun, 3)).toBe(true);
    expect(doneSteps(begun, NOTHING)).toEqual(["site"]);
    expect(doneSteps(begun, { channel: true, overlay: true })).toEqual(["site", "channel", "overlay"]);
  });

  test("leaves for good once all steps are done, in any order", () => {
    const done = [...STEPS].reverse().reduce((settings, step) => withStep(settings, step, NOTHING), EMPTY);
    expect(doneSteps(done, NOTHING)).toEqual([...STEPS]);
    expect(opensFirstRun(done, 0)).toBe(false);
  });

  test("leaves for good when it is dismissed, and keeps the other settings", () => {
    const settings = { ...withStep(EMPTY, "site", NOTHING), domain: "demo.example" };
    const closed = withoutFirstRun(settings);
    expect(opensFirstRun(closed, 0)).toBe(false);
    expect(closed).toMatchObject({ domain: "demo.example", studio: { firstRun: { steps: ["site"], closed: true } } });
  });
});

describe("a slug", () => {
  test.for([
    ["Harbour City FC", "harbour-city-fc"],
    ["  Städtischer FC – Ünion! ", "stadtischer-fc-union"],
    ["مرحبا", "channel"],
    ["a".repeat(99) + " b", "a".repeat(99)],
  ])("is made of the name %j", ([name = "", slug]) => {
    expect(slugOf(name, "channel")).toBe(slug);
  });
});

test("the embed code names the deployment, the site and the channel", () => {
  const code = embedCode({ origin: "https://tifo.example", siteId: "5eed00000000000000000001", channelId: "5eed0000000000000000c001" });
  expect(code).toContain(`<script src="https://tifo.example/sdk/tifo.js"></script>`);
  expect(code).toContain(`clientId: "5eed00000000000000000001"`);
  expect(code).toContain(`channelId: "5eed0000000000000000c001"`);
});
