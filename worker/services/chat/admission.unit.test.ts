import { describe, expect, test } from "vitest";
import { ACCOUNT_RATE, type Bucket, rejectionOf, type RoomRules, type Sender, takeToken } from "./admission.ts";

const NOW = 1_795_273_200_000;
const viewer: Sender = { isExempt: false, isMember: false, banned: undefined, lastSentAt: undefined };
const moderator: Sender = { ...viewer, isExempt: true };
const open: RoomRules = { mode: "open", slowSeconds: 0 };
const ban = (until: number | null) => ({ until, reason: "" });

describe("rejectionOf", () => {
  test.each<[string, Partial<Sender>, Partial<RoomRules>, string | undefined]>([
    ["accepts a viewer in an open room", {}, {}, undefined],
    ["rejects a banned viewer", { banned: ban(null) }, {}, "chat_banned"],
    ["rejects until the ban ends", { banned: ban(NOW + 1) }, {}, "chat_banned"],
    ["accepts once the ban has ended", { banned: ban(NOW) }, {}, undefined],
    ["rejects a banned moderator", { ...moderator, banned: ban(null) }, {}, "chat_banned"],
    ["rejects in slow mode", { lastSentAt: NOW - 9_999 }, { slowSeconds: 10 }, "chat_slow_mode"],
    ["accepts after the slow mode's wait", { lastSentAt: NOW - 10_000 }, { slowSeconds: 10 }, undefined],
    ["accepts the first message in slow mode", {}, { slowSeconds: 10 }, undefined],
    ["exempts moderators from slow mode", { ...moderator, lastSentAt: NOW }, { slowSeconds: 10 }, undefined],
    ["rejects in a paused room", {}, { mode: "paused" }, "chat_paused"],
    ["rejects a member in a paused room", { isMember: true }, { mode: "paused" }, "chat_paused"],
    ["exempts moderators from a pause", moderator, { mode: "paused" }, undefined],
    ["rejects who isn't a member", {}, { mode: "members" }, "chat_members_only"],
    ["accepts a member", { isMember: true }, { mode: "members" }, undefined],
    ["exempts moderators from membership", moderator, { mode: "members" }, undefined],
    ["reports a ban before anything else", { banned: ban(null), lastSentAt: NOW }, { mode: "paused", slowSeconds: 9 }, "chat_banned"],
  ])("%s", (_, sender, rules, code) => {
    expect(rejectionOf({ ...viewer, ...sender }, { ...open, ...rules }, NOW)?.code).toBe(code);
  });

  test("reports how many seconds of slow mode are left", () => {
    expect(rejectionOf({ ...viewer, lastSentAt: NOW - 2_500 }, { ...open, slowSeconds: 10 }, NOW)?.retryAfter).toBe(8);
  });
});

describe("takeToken", () => {
  const take = (bucket: Bucket | undefined, now: number) => takeToken(bucket, ACCOUNT_RATE, now);

  test("allows a burst of five, then one a second", () => {
    let bucket: Bucket | undefined;
    for (let n = 0; n < 5; n++) {
      const taken = take(bucket, NOW);
      expect(taken.wait).toBe(0);
      bucket = taken.bucket;
    }
    expect(take(bucket, NOW).wait).toBe(1);
    expect(take(bucket, NOW + 999).wait).toBe(1);
    expect(take(bucket, NOW + 1_000).wait).toBe(0);
  });

  test("never holds more than the burst, and survives a clock that goes back", () => {
    expect(take({ tokens: 1, at: NOW }, NOW + 3_600_000).bucket.tokens).toBe(4);
    expect(take({ tokens: 1, at: NOW }, NOW - 1_000).bucket.tokens).toBe(0);
  });
});
