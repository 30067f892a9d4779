import fc from "fast-check";
import { describe, expect, test } from "vitest";
import { canIPlay, type PlaybackRequest } from "./can-i-play.ts";

const KICK_OFF = Date.UTC(2026, 10, 21, 15);
const HOUR = 3_600_000;

const open: PlaybackRequest = {
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

const play = (change: Partial<PlaybackRequest>) => canIPlay({ ...open, ...change });
const paid = { type: "entitlement" as const, skus: ["season-pass", "match-pass"] };
const schedule = { startTimestamp: KICK_OFF, endTimestamp: KICK_OFF + 2 * HOUR };
const preview = { gate: 120, video: 0, used: 45 };
const full = { hasSlot: false, taken: 3, limit: 3 };

describe("canIPlay grants full access", () => {
  test.for<[who: string, request: Partial<PlaybackRequest>]>([
    ["to anybody without a gate", {}],
    ["to a signed-in viewer at a login gate", { gate: { type: "login", skus: [] }, signedIn: true }],
    [
      "to a viewer who has redeemed a login code of the gate",
      { gate: { type: "login", skus: ["press"] }, signedIn: true, loginSkus: ["press"] },
    ],
    ["to a viewer who holds one of the gate's skus", { gate: paid, signedIn: true, heldSkus: ["match-pass"] }],
    ["to a manager of the page, whatever its gate", { gate: paid, videoSkus: ["replays"], signedIn: true, manages: true }],
    ["to a viewer who holds a sku of the video", { videoSkus: ["replays"], signedIn: true, heldSkus: ["replays"] }],
    ["from the start of the schedule", { schedule }],
    ["until the end of the schedule", { schedule, now: schedule.endTimestamp - 1 }],
    [
      "after the schedule's end while the stream is live",
      { schedule, now: schedule.endTimestamp, stream: { isLive: true, liveSince: KICK_OFF } },
    ],
    ["in a country that the page allows", { regions: ["GB", "IE"], country: "IE" }],
    ["on a device with a slot when all slots are taken", { signedIn: true, devices: { ...full, hasSlot: true } }],
    ["on a device that takes the last slot", { signedIn: true, devices: { ...full, taken: 2 } }],
    ["to an anonymous viewer, whatever the devices of an account", { devices: full }],
  ])("%s", ([, request]) => {
    expect(play(request)).toMatchObject({ access: "full", error: null, previewTimeRemainingSeconds: null, accountOverDeviceLimit: false });
  });
});

describe("canIPlay", () => {
  test.for<[type: string, rule: string, request: Partial<PlaybackRequest>, unlockedBy: string]>([
    ["region", "from another country", { regions: ["GB"], country: "FR" }, "GB"],
    ["region", "from an unknown country", { regions: ["GB"] }, "GB"],
    ["not_started", "before the start", { schedule, now: KICK_OFF - 1 }, "2026-11-21T15:00:00.000Z"],
    [
      "not_started",
      "before the start, even if the stream is live for a test",
      { schedule, now: KICK_OFF - 1, stream: { isLive: true, liveSince: KICK_OFF - 2 } },
      "2026-11-21T15",
    ],
    ["ended", "at the end of the schedule", { schedule, now: schedule.endTimestamp }, "2026-11-21T17:00:00.000Z"],
    ["ended", "after the end of the stream", { schedule, now: schedule.endTimestamp, stream: { isLive: false, liveSince: null } }, "ended"],
    ["sign_in_required", "anonymously, at a login gate", { gate: { type: "login", skus: [] } }, "Sign in"],
    ["sign_in_required", "anonymously, without a preview", { gate: paid }, "season-pass or match-pass"],
    ["no_entitlement", "without any of the skus", { gate: paid, signedIn: true, heldSkus: ["elsewhere"] }, "season-pass or match-pass"],
    [
      "no_entitlement",
      "without the login code",
      { gate: { type: "login", skus: ["press"] }, signedIn: true, heldSkus: ["press"] },
      "login code of press",
    ],
    [
      "no_entitlement",
      "without the login code, whatever preview its sku allows",
      { gate: { type: "login", skus: ["press"] }, signedIn: true, preview },
      "login code of press",
    ],
    [
      "no_entitlement",
      "with the gate's sku but not the video's",
      { gate: paid, videoSkus: ["replays"], signedIn: true, heldSkus: ["match-pass"] },
      "of replays",
    ],
    [
      "no_entitlement",
      "without the video's sku, even if the gate allows a preview",
      { gate: paid, videoSkus: ["replays"], signedIn: true, heldSkus: ["match-pass"], preview },
      "of replays",
    ],
    [
      "no_entitlement",
      "with neither sku, if one of them allows no preview",
      { gate: paid, videoSkus: ["replays"], signedIn: true, preview },
      "season-pass or match-pass or replays",
    ],
    ["no_entitlement", "at an entitlement gate without skus", { gate: { type: "entitlement", skus: [] }, signedIn: true }, "entitlement"],
    ["preview_over", "when the preview is used up", { gate: paid, preview: { gate: 120, video: 0, used: 120 } }, "season-pass"],
    ["device_limit", "on one device too many", { signedIn: true, devices: full }, "free one"],
    ["device_limit", "on one device too many, even for a preview", { gate: paid, preview, signedIn: true, devices: full }, "free one"],
  ])("denies with %s: %s", ([type, , request, unlockedBy]) => {
    const { access, error, previewTimeRemainingSeconds } = play(request);
    expect({ access, type: error?.type, previewTimeRemainingSeconds }).toEqual({
      access: "preview_over",
      type,
      previewTimeRemainingSeconds: 0,
    });
    expect(error?.message).toContain(unlockedBy);
  });

  test("allows the rest of the preview without the sku, signed in or not", () => {
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

  test.for<[seconds: number, lacking: string, heldSkus: string[]]>([
    [55, "both skus (the shorter preview)", []],
    [55, "only the video's sku (its own preview)", ["season-pass"]],
    [75, "only the gate's sku (its own preview)", ["replays"]],
  ])("allows %s seconds of preview to a viewer who lacks %s", ([seconds, , heldSkus]) => {
    const both = { gate: paid, videoSkus: ["replays"], preview: { gate: 120, video: 100, used: 45 } };
    expect(play({ ...both, signedIn: true, heldSkus }).previewTimeRemainingSeconds).toBe(seconds);
  });
});

describe("the live programme", () => {
  test.for<[name: string, request: Partial<PlaybackRequest>, live: boolean, offset: number]>([
    ["is nothing without a schedule and a stream", {}, false, 0],
    ["is that of the schedule without a stream", { schedule, now: KICK_OFF + 90_500 }, true, 90],
    ["is nothing before the schedule starts", { schedule, now: KICK_OFF - 5000 }, false, 0],
    ["is nothing after the schedule ends", { schedule, now: KICK_OFF + 3 * HOUR }, false, 0],
    [
      "is the stream from its own start",
      { schedule, now: KICK_OFF + 90_500, stream: { isLive: true, liveSince: KICK_OFF - 9500 } },
      true,
      100,
    ],
    [
      "is nothing if the stream is offline, despite the schedule",
      { schedule, now: KICK_OFF + 1000, stream: { isLive: false, liveSince: null } },
      false,
      0,
    ],
  ])("%s", ([, request, live, offset]) => {
    expect(play(request)).toMatchObject({ live, offset });
  });
});

const sku = fc.constantFrom("season-pass", "match-pass", "press");
const skus = fc.uniqueArray(sku);
const anyRequest: fc.Arbitrary<PlaybackRequest> = fc.record({
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

describe("for any input", () => {
  test("playback is allowed exactly if there is no error", () => {
    fc.assert(
      fc.property(anyRequest, (request) => {
        const { access, error, previewTimeRemainingSeconds: left } = canIPlay(request);
        expect(error === null).toBe(access !== "preview_over");
        if (access === "full") expect(left).toBeNull();
        if (access === "preview") expect(left).toBeGreaterThan(0);
        if (access === "preview_over") expect(left).toBe(0);
      }),
      { numRuns: 2000 },
    );
  });

  test("full access requires both entitlements", () => {
    fc.assert(
      fc.property(anyRequest, (request) => {
        const { access, userHasChannelGateEntitlement, userHasVideoEntitlement } = canIPlay(request);
        const both = userHasChannelGateEntitlement && userHasVideoEntitlement;
        if (access === "full") expect(both).toBe(true);
        if (access === "preview") expect(both).toBe(false);
      }),
      { numRuns: 2000 },
    );
  });

  test("another sku, a longer preview or a free device never reduces access", () => {
    const rank = { preview_over: 0, preview: 1, full: 2 };
    fc.assert(
      fc.property(anyRequest, sku, (request, more) => {
        const before = rank[canIPlay(request).access];
        const { heldSkus, loginSkus, preview: seen, devices } = request;
        for (const change of [
          { heldSkus: [...heldSkus, more] },
          { loginSkus: [...loginSkus, more] },
          { preview: { ...seen, gate: seen.gate + 60 } },
          { preview: { ...seen, video: seen.video + 60 } },
          { devices: { ...devices, taken: Math.max(0, devices.taken - 1) } },
          { regions: [] },
        ])
          expect(rank[canIPlay({ ...request, ...change }).access]).toBeGreaterThanOrEqual(before);
      }),
      { numRuns: 2000 },
    );
  });
});
