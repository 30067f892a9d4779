import { afterEach, beforeEach, describe, expect, test, vi } from "vitest";
import type { WatchedEvent } from "#sdk/core/event.ts";
import { createRanks, type OwnRank, type Ranks } from "#sdk/core/ranks.ts";
import { createSession } from "#sdk/core/session.ts";
import type { TifoEventDelegate } from "#sdk/model/event-delegate.ts";
import { ApiError, EventWorld, SITE } from "./event-world.ts";

const BOARD = "5eed00000000000000007801";
const ME = "5eed0000000000000000a003";
const LIST = `GET /leaderboard/v1/${BOARD}/ranks`;
const OWN = `GET /leaderboard/v1/${BOARD}/ranks/me`;
const SIGNED_IN: TifoEventDelegate = { getUserToken: () => "token" };
const rank = (place: number, name: string | null, points: number) => ({ rank: place, accountId: name && `id-${name}`, name, points });
const own = (fields: Partial<OwnRank> = {}): OwnRank => ({
  ...{ rank: 12, accountId: ME, name: "Vera", points: 30, hidden: false, members: 40, before: [rank(11, "Ann", 31)], after: [] },
  ...fields,
});

let world: EventWorld;
let event: WatchedEvent;
let ranks: Ranks;

beforeEach(() => {
  world = new EventWorld();
  vi.stubGlobal("fetch", world.fetch);
  world.rest[LIST] = () => ({ results: [rank(1, "Zoe", 90), rank(2, null, 80)], pagination: {} });
  world.rest[OWN] = () => own();
});

afterEach(() => {
  vi.unstubAllGlobals();
});

function sessionOf(delegate: TifoEventDelegate) {
  const configuration = { clientId: SITE, origin: "https://tifo.example", deviceId: "device", delegate };
  return createSession(configuration, undefined, { ...world.environment, hidden: () => false });
}

async function open(delegate: TifoEventDelegate = SIGNED_IN): Promise<() => void> {
  event = await world.watchLoaded(delegate);
  ranks = createRanks(sessionOf(delegate), event, BOARD);
  const stop = ranks.subscribe(() => undefined);
  await world.until(() => ranks.getSnapshot().status !== "loading");
  return stop;
}

const asked = (request: string) => world.requests.filter((one) => one === request).length;
const send = (top: object[], leaderboardId = BOARD) =>
  world.channel.send({ type: "leaderboard.updated", leaderboard: { leaderboardId, top } });

describe("the ranks of a leaderboard", () => {
  test("have the top for everybody, and the own rank of a signed-in viewer", async () => {
    await open();
    expect(ranks.getSnapshot()).toMatchObject({ status: "ready", top: [{ name: "Zoe" }, { name: null }], own: { rank: 12 } });
    expect(asked(LIST)).toBe(1);
  });

  test("of a viewer who isn't signed in are loaded without an own rank", async () => {
    await open({});
    expect(ranks.getSnapshot()).toMatchObject({ status: "ready", own: null });
    expect(asked(OWN)).toBe(0);
  });

  test("follow the channel, and the own rank is asked for once for many frames", async () => {
    await open();
    world.rest[OWN] = () => own({ rank: 3 });
    for (let points = 91; points < 99; points++) send([rank(1, "Zoe", points)]);
    send([rank(1, "Mallory", 1)], "5eed00000000000000007899");
    await world.until(() => ranks.getSnapshot().top[0]?.points === 98);
    expect(ranks.getSnapshot()).toMatchObject({ top: [{ name: "Zoe" }], own: { rank: 12 } });
    await world.until(() => ranks.getSnapshot().own?.rank === 3);
    expect(asked(LIST)).toBe(1);
    expect(asked(OWN)).toBe(2);
  });

  test("that were received before they are shown aren't loaded again", async () => {
    event = await world.watchLoaded(SIGNED_IN);
    send([rank(1, "Zoe", 91)]);
    await world.until(() => event.topOf(BOARD) !== undefined);
    ranks = createRanks(sessionOf(SIGNED_IN), event, BOARD);
    ranks.subscribe(() => undefined);
    await world.until(() => ranks.getSnapshot().status === "ready");
    expect(ranks.getSnapshot().top).toEqual([rank(1, "Zoe", 91)]);
    expect(asked(LIST)).toBe(0);
  });

  test("say that loading failed, and load on request", async () => {
    const list = world.rest[LIST];
    world.rest[LIST] = () => new ApiError(404, "not_found");
    await open();
    expect(ranks.getSnapshot().status).toBe("failed");
    if (list) world.rest[LIST] = list;
    await ranks.reload();
    expect(ranks.getSnapshot().status).toBe("ready");
  });

  test("hide the viewer's name without changing the rest of the account", async () => {
    await open();
    const bodies: unknown[] = [];
    world.rest[`GET /account/v3/${ME}`] = () => ({ _id: ME, name: "Vera", marketingOptin: true });
    world.rest[`PUT /account/v3/${ME}`] = async (request) => {
      bodies.push(await request.json());
      return { _id: ME };
    };
    await ranks.setHidden(true);
    expect(bodies).toEqual([{ name: "Vera", marketingOptin: true, leaderboardHidden: true }]);
    expect(ranks.getSnapshot().own?.hidden).toBe(true);
    world.rest[`PUT /account/v3/${ME}`] = () => new ApiError(403, "forbidden");
    const rejected = ranks.setHidden(false);
    expect(ranks.getSnapshot().own?.hidden).toBe(false);
    await expect(rejected).rejects.toMatchObject({ status: 403 });
    expect(ranks.getSnapshot().own?.hidden).toBe(true);
  });
});
