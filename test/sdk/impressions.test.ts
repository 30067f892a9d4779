import { z } from "@hono/zod-openapi";
import { beforeEach, describe, expect, test, vi } from "vitest";
import { browserEnvironment } from "#sdk/channel/index.ts";
import { reportImpressions } from "#sdk/core/impressions.ts";
import { createSession } from "#sdk/core/session.ts";
import { seededRandom, VirtualTime } from "./virtual-network.ts";

const SITE = "5eed00000000000000000001";
const CHANNEL = "5eed0000000000000000c001";
const OVERLAY = "5eed00000000000000f00001";
const ENTRY = { kind: "overlay.shown", id: OVERLAY } as const;
const ORIGIN = "https://tifo.example";

const Body = z.object({ weight: z.number(), entries: z.array(z.unknown()) });

interface Sent extends z.output<typeof Body> {
  url: string;
}

let time: VirtualTime;
let sent: Sent[];
let leave: () => void;
let accepts: boolean;

beforeEach(() => {
  time = new VirtualTime();
  sent = [];
  accepts = true;
});

function start({
  viewers = 10,
  insights,
  refuses = false,
  seed = 1,
}: { viewers?: number; insights?: boolean; refuses?: boolean; seed?: number } = {}) {
  const timers = new Map<ReturnType<typeof setTimeout>, number>();
  const environment = {
    ...browserEnvironment,
    now: () => time.now,
    random: seededRandom(seed),
    setTimer(work: () => void, delay: number) {
      const handle = setTimeout(() => {}, 0);
      clearTimeout(handle);
      timers.set(handle, time.after(delay, work));
      return handle;
    },
    clearTimer: (handle: ReturnType<typeof setTimeout> | undefined) => {
      if (handle !== undefined) time.cancel(timers.get(handle) ?? -1);
    },
    onLeave(listener: () => void) {
      leave = listener;
      return () => {};
    },
    sendBeacon(url: string, text: string) {
      const { weight, entries } = Body.parse(JSON.parse(text));
      if (accepts) sent.push({ url, weight, entries });
      return accepts;
    },
    refusesTracking: () => refuses,
  };
  const session = createSession(
    { clientId: SITE, origin: ORIGIN, deviceId: "phone", ...(insights === undefined ? {} : { insights }) },
    undefined,
    environment,
  );
  return reportImpressions(session, CHANNEL, () => viewers);
}

describe("impressions", () => {
  test("are sent together within ten seconds, without headers", async () => {
    const reports = start();
    reports.allow(true);
    for (let shown = 0; shown < 3; shown++) reports.add(ENTRY);
    expect(sent).toEqual([]);
    await time.advance(10_000);
    expect(sent).toEqual([{ url: `${ORIGIN}/insights/v1/impressions?clientId=${SITE}`, weight: 1, entries: [ENTRY, ENTRY, ENTRY] }]);
    await time.advance(60_000);
    expect(sent).toHaveLength(1);
  });

  test("are sent at once when there are fifty, and when the viewer leaves", () => {
    const reports = start();
    reports.allow(true);
    for (let shown = 0; shown < 51; shown++) reports.add(ENTRY);
    expect(sent.map(({ entries }) => entries.length)).toEqual([50]);
    leave();
    expect(sent.map(({ entries }) => entries.length)).toEqual([50, 1]);
  });

  test("are sent when the event is no longer watched, and none after that", async () => {
    const reports = start();
    reports.allow(true);
    reports.add(ENTRY);
    reports.stop();
    expect(sent).toHaveLength(1);
    reports.add(ENTRY);
    await time.advance(60_000);
    expect(sent).toHaveLength(1);
  });

  test("wait until the site's setting is known", async () => {
    const reports = start();
    reports.add(ENTRY);
    leave();
    await time.advance(60_000);
    expect(sent).toEqual([]);
    reports.allow(true);
    await time.advance(10_000);
    expect(sent).toHaveLength(1);
  });

  test.for([
    ["the site has switched it off", {}, false],
    ["the page has switched it off", { insights: false }, true],
    ["the browser asks not to track", { refuses: true }, true],
  ] as const)("are never sent if %s", async ([, options, allowed]) => {
    const reports = start(options);
    reports.add(ENTRY);
    reports.allow(allowed);
    reports.add(ENTRY);
    leave();
    reports.stop();
    await time.advance(60_000);
    expect(sent).toEqual([]);
  });

  test("are kept for the next report if the browser accepts no beacon", async () => {
    const reports = start();
    reports.allow(true);
    accepts = false;
    reports.add(ENTRY);
    await time.advance(10_000);
    accepts = true;
    reports.add(ENTRY);
    await time.advance(10_000);
    expect(sent.map(({ entries }) => entries.length)).toEqual([2]);
  });

  test("of what isn't the site's aren't sent, because they would spoil the batch", async () => {
    const reports = start();
    reports.allow(true);
    reports.add({ kind: "video.play", id: "clip-of-the-host-app" });
    reports.add(ENTRY);
    await time.advance(10_000);
    expect(sent.map(({ entries }) => entries)).toEqual([[ENTRY]]);
  });

  test("of a large channel are sent by a part of the viewers, with a weight that keeps the sum", async () => {
    const crowd = 4_000;
    for (let viewer = 0; viewer < crowd; viewer++) {
      const reports = start({ viewers: 100_000, seed: viewer + 1 });
      reports.allow(true);
      reports.add(ENTRY);
      reports.stop();
    }
    expect(new Set(sent.map(({ weight }) => weight))).toEqual(new Set([20]));
    const sum = sent.reduce((total, { weight }) => total + weight, 0);
    // 4,000 draws of 1 in 20: four standard deviations are 1,100.
    expect(Math.abs(sum - crowd)).toBeLessThan(1_100);
    expect(sent.length).toBeLessThan(crowd / 10);
  });
});

describe("the browser's signals", () => {
  test.for([
    [{ globalPrivacyControl: true }, true],
    [{ doNotTrack: "1" }, true],
    [{ doNotTrack: "0" }, false],
    [{}, false],
  ] as const)("%j are respected", ([signals, refused]) => {
    vi.stubGlobal("navigator", signals);
    expect(browserEnvironment.refusesTracking()).toBe(refused);
  });

  test("without sendBeacon, nothing is sent", () => {
    vi.stubGlobal("navigator", {});
    expect(browserEnvironment.sendBeacon("https://tifo.example", "{}")).toBe(false);
  });
});
