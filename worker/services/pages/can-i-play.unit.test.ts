import fc from "fast-check";
import { describe, expect, test } from "vitest";
import { canIPlay, type Viewing } from "./can-i-play.ts";

const KICK_OFF = Date.UTC(2026, 10, 21, 15);
const HOUR = 3_600_000;

const open: Viewing = {
  now: KICK_OFF,
  gate: { type: "none", skus: [] },
  schedule: undefined,
  regions: [],
  country: undefined,
  stream: undefined,
  videoSkus: [],
  signedIn: false,
  manages: false,
  heldSkus: [],
  loginSkus: [],
  preview: { gate: 0, video: 0, used: 0 },
  devices: { hasSlot: false, taken: 0, limit: 3 },
};

const play = (change: Partial<Viewing>) => canIPlay({ ...open, ...change });
const paid = { type: "entitlement" as const, skus: ["season-pass", "match-pass"] };
const schedule = { startTimestamp: KICK_OFF, endTimestamp: KICK_OFF + 2 * HOUR };
const preview = { gate: 120, video: 0, used: 45 };
const full = { hasSlot: false, taken: 3, limit: 3 };

describe("who may play", () => {
  test.for<[who: string, viewing: Partial<Viewing>]>([
    ["anybody, where there is no gate", {}],
    ["whoever is signed in, at a login gate", { gate: { type: "login", skus: [] }, signedIn: true }],
    ["who has redeemed a login code of the gate", { gate: { type: "login", skus: ["press"] }, signedIn: true, loginSkus: ["press"] }],
    ["who holds one of the gate's skus", { gate: paid, signedIn: true, heldSkus: ["match-pass"] }],
    ["who manages the page, whatever its gate", { gate: paid, videoSkus: ["replays"], signedIn: true, manages: true }],
    ["who holds a sku of the video", { videoSkus: ["replays"], signedIn: true, heldSkus: ["replays"] }],
    ["from the first moment of the schedule", { schedule }],
    ["to the last moment of the schedule", { schedule, now: schedule.endTimestamp - 1 }],
    ["after its end, while the stream goes on", { schedule, now: schedule.endTimestamp, stream: { isLive: true, liveSince: KICK_OFF } }],
    ["from a country of the page's", { regions: ["GB", "IE"], country: "IE" }],
    ["on a device that has a slot, when all are taken", { signedIn: true, devices: { ...full, hasSlot: true } }],
    ["on a device that takes the last slot", { signedIn: true, devices: { ...full, taken: 2 } }],
    ["anonymously, whatever an account's devices", { devices: full }],
  ])("%s", ([, viewing]) => {
    expect(play(viewing)).toMatchObject({ access: "full", error: null, previewTimeRemainingSeconds: null, accountOverDeviceLimit: false });
  });

  test.for<[type: string, rule: string, viewing: Partial<Viewing>, unlockedBy: string]>([
    ["region", "from another country", { regions: ["GB"], country: "FR" }, "GB"],
    ["region", "from nobody knows where", { regions: ["GB"] }, "GB"],
    ["not_started", "before the start", { schedule, now: KICK_OFF - 1 }, "2026-11-21T15:00:00.000Z"],
    [
      "not_started",
      "before the start, though somebody tries the stream out",
      { schedule, now: KICK_OFF - 1, stream: { isLive: true, liveSince: KICK_OFF - 2 } },
      "2026-11-21T15",
    ],
    ["ended", "at the end", { schedule, now: schedule.endTimestamp }, "2026-11-21T17:00:00.000Z"],
    ["ended", "after the end of the stream", { schedule, now: schedule.endTimestamp, stream: { isLive: false, liveSince: null } }, "ended"],
    ["sign_in_required", "anonymously, at a login gate", { gate: { type: "login", skus: [] } }, "Sign in"],
    ["sign_in_required", "anonymously, where no preview is given", { gate: paid }, "season-pass or match-pass"],
    ["no_entitlement", "without any of the skus", { gate: paid, signedIn: true, heldSkus: ["elsewhere"] }, "season-pass or match-pass"],
    [
      "no_entitlement",
      "without the login code",
      { gate: { type: "login", skus: ["press"] }, signedIn: true, heldSkus: ["press"] },
      "login code of press",
    ],
    [
      "no_entitlement",
      "without the login code, whatever preview its sku would give",
      { gate: { type: "login", skus: ["press"] }, signedIn: true, preview },
      "login code of press",
    ],
    [
      "no_entitlement",
      "with the gate's sku, without the video's",
      { gate: paid, videoSkus: ["replays"], signedIn: true, heldSkus: ["match-pass"] },
      "of replays",
    ],
    [
      "no_entitlement",
      "without the video's sku, whatever preview the gate gives to those before it",
      { gate: paid, videoSkus: ["replays"], signedIn: true, heldSkus: ["match-pass"], preview },
      "of replays",
    ],
    [
      "no_entitlement",
      "with neither sku, where one of them gives no preview",
      { gate: paid, videoSkus: ["replays"], signedIn: true, preview },
      "season-pass or match-pass or replays",
    ],
    ["no_entitlement", "at a gate that names no sku", { gate: { type: "entitlement", skus: [] }, signedIn: true }, "entitlement"],
    ["preview_over", "when the preview is used up", { gate: paid, preview: { gate: 120, video: 0, used: 120 } }, "season-pass"],
    ["device_limit", "on one device too many", { signedIn: true, devices: full }, "free one"],
    ["device_limit", "on one device too many, for a preview too", { gate: paid, preview, signedIn: true, devices: full }, "free one"],
  ])("is refused as %s: %s", ([type, , viewing, unlockedBy]) => {
    const { access, error, previewTimeRemainingSeconds } = play(viewing);
    expect({ access, type: error?.type, previewTimeRemainingSeconds }).toEqual({
      access: "preview_over",
      type,
      previewTimeRemainingSeconds: 0,
    });
    expect(error?.message).toContain(unlockedBy);
  });

  test("who lacks the sku sees what is left of the preview, signed in or not", () => {
    for (const signedIn of [true, false]) {
      expect(play({ gate: paid, preview, signedIn })).toMatchObject({
        access: "preview",
        previewTimeRemainingSeconds: 75,
        error: null,
        userHasChannelGateEntitlement: false,
        userHasVideoEntitlement: true,
      });
    }
  });

  test.for<[seconds: number, which: string, heldSkus: string[]]>([
    [55, "both, the shorter one", []],
    [55, "the video alone, its own", ["season-pass"]],
    [75, "the gate alone, its own", ["replays"]],
  ])("has %s seconds left of the preview for who lacks %s", ([seconds, , heldSkus]) => {
    const both = { gate: paid, videoSkus: ["replays"], preview: { gate: 120, video: 100, used: 45 } };
    expect(play({ ...both, signedIn: true, heldSkus }).previewTimeRemainingSeconds).toBe(seconds);
  });
});

describe("what is on", () => {
  test.for<[name: string, viewing: Partial<Viewing>, live: boolean, offset: number]>([
    ["nothing, without schedule and stream", {}, false, 0],
    ["the schedule's, without a stream", { schedule, now: KICK_OFF + 90_500 }, true, 90],
    ["nothing yet", { schedule, now: KICK_OFF - 5000 }, false, 0],
    ["nothing any more", { schedule, now: KICK_OFF + 3 * HOUR }, false, 0],
    ["the stream, since it began", { schedule, now: KICK_OFF + 90_500, stream: { isLive: true, liveSince: KICK_OFF - 9500 } }, true, 100],
    ["no stream in spite of the schedule", { schedule, now: KICK_OFF + 1000, stream: { isLive: false, liveSince: null } }, false, 0],
  ])("%s", ([, viewing, live, offset]) => {
    expect(play(viewing)).toMatchObject({ live, offset });
  });
});

const sku = fc.constantFrom("season-pass", "match-pass", "press");
const skus = fc.uniqueArray(sku);
const anyViewing: fc.Arbitrary<Viewing> = fc.record({
  now: fc.integer({ min: -5, max: 5 }).map((hours) => KICK_OFF + hours * HOUR),
  gate: fc.record({ type: fc.constantFrom("none", "login", "entitlement"), skus }),
  schedule: fc.option(fc.constant(schedule), { nil: undefined }),
  regions: fc.uniqueArray(fc.constantFrom("GB", "IE")),
  country: fc.option(fc.constantFrom("GB", "IE", "FR"), { nil: undefined }),
  stream: fc.option(fc.constantFrom({ isLive: true, liveSince: KICK_OFF }, { isLive: false, liveSince: null }), { nil: undefined }),
  videoSkus: skus,
  signedIn: fc.boolean(),
  manages: fc.boolean(),
  heldSkus: skus,
  loginSkus: skus,
  preview: fc.record({
    gate: fc.integer({ min: 0, max: 120 }),
    video: fc.integer({ min: 0, max: 120 }),
    used: fc.integer({ min: 0, max: 240 }),
  }),
  devices: fc.record({ hasSlot: fc.boolean(), taken: fc.integer({ min: 0, max: 4 }), limit: fc.integer({ min: 1, max: 4 }) }),
});

describe("whatever the viewing", () => {
  test("nothing is played beside an error, and without one something is", () => {
    fc.assert(
      fc.property(anyViewing, (viewing) => {
        const { access, error, previewTimeRemainingSeconds: left } = canIPlay(viewing);
        expect(error === null).toBe(access !== "preview_over");
        if (access === "full") expect(left).toBeNull();
        if (access === "preview") expect(left).toBeGreaterThan(0);
        if (access === "preview_over") expect(left).toBe(0);
      }),
      { numRuns: 2000 },
    );
  });

  test("full access is had with both entitlements alone", () => {
    fc.assert(
      fc.property(anyViewing, (viewing) => {
        const { access, userHasChannelGateEntitlement, userHasVideoEntitlement } = canIPlay(viewing);
        const both = userHasChannelGateEntitlement && userHasVideoEntitlement;
        if (access === "full") expect(both).toBe(true);
        if (access === "preview") expect(both).toBe(false);
      }),
      { numRuns: 2000 },
    );
  });

  test("another sku, a longer preview or a free device takes nothing away", () => {
    const rank = { preview_over: 0, preview: 1, full: 2 };
    fc.assert(
      fc.property(anyViewing, sku, (viewing, more) => {
        const before = rank[canIPlay(viewing).access];
        const { heldSkus, loginSkus, preview: seen, devices } = viewing;
        for (const change of [
          { heldSkus: [...heldSkus, more] },
          { loginSkus: [...loginSkus, more] },
          { preview: { ...seen, gate: seen.gate + 60 } },
          { preview: { ...seen, video: seen.video + 60 } },
          { devices: { ...devices, taken: Math.max(0, devices.taken - 1) } },
          { regions: [] },
        ])
          expect(rank[canIPlay({ ...viewing, ...change }).access]).toBeGreaterThanOrEqual(before);
      }),
      { numRuns: 2000 },
    );
  });
});
