import { env } from "cloudflare:workers";
import { beforeAll, describe, expect, test, vi } from "vitest";
import { newSite, openSocket, type TestSite } from "#test/harness.ts";
import { leaderboardsOf, parseLedger, type Standings } from "#test/leaderboards.ts";
import { idOf, pollCalls } from "#test/polls.ts";
import type { TestViewer } from "#test/isolated/relay-viewer.ts";
import { Quest } from "#worker/services/quests/schemas.ts";
import { ChatMessage } from "#worker/services/chat/schemas.ts";
import { ClaimStatus } from "#worker/services/claim-statuses/schemas.ts";
import { writeVotes } from "#worker/services/polls/counting.ts";
import { recordActivity } from "#worker/services/realtime/activity.ts";
import { mentions } from "#test/next-batch.ts";
import { siteStore } from "#test/site-store.ts";

const HOUR = 3_600_000;
const MINUTE = 60_000;

let site: TestSite;

beforeAll(async () => {
  site = await newSite();
});

const { newBoard, ranks, own, award, page } = leaderboardsOf(() => site);
const { newPoll, answer, patch, settle } = pollCalls(() => site);
const becomes = (id: string, standings: Standings) => vi.waitFor(async () => expect(await ranks(id)).toEqual(standings));
/** Shows that something isn't paid: what happens after it has been paid. */
const marker = (id: string) => award(id, { accountId: site.accounts.admin.id, points: 1 });

/** Awards the minutes that a board has collected; otherwise it does so after five minutes. */
const awardWatched = (id: string) => site.call("exportLeaderboard", { params: { id } });

async function completedQuest(fields: Record<string, unknown> = {}): Promise<string> {
  const text = { title: "Early bird", description: "", rewardDescription: "A scarf", claimedMessage: "See you there" };
  const actions = [{ arrayId: "a1B2c3D4e", body: "Look", kind: "quest:view" }];
  const body = { siteId: site.id, ...text, rewardType: "prize-service-specific", actions, ...fields };
  const { _id } = (await site.call("createQuest", { body })).as(Quest);
  await site.call("reportQuestAction", { as: "viewer", params: { id: _id, arrayId: "a1B2c3D4e" }, body: {} });
  return _id;
}

async function enter(channelId: string): Promise<TestViewer> {
  const viewer = await openSocket(site, channelId);
  await viewer.first("welcome");
  return viewer;
}

describe("a rule pays for", () => {
  test("a response to a poll, once for each, and for no poll of another channel", async () => {
    const everywhere = await newBoard({ rules: [{ on: "poll.answered", points: 10 }] });
    const poll = await newPoll({ responsesPerViewer: 2 });
    await answer(poll._id, idOf(poll, 0));
    await answer(poll._id, idOf(poll, 1));
    await answer(poll._id, idOf(poll, 1), "reader");
    await answer(poll._id, idOf(poll, 1), "reader");
    await patch(poll._id, { open: false });
    await vi.waitFor(async () => {
      const standings = await ranks(everywhere._id);
      expect(standings.map(([, name, points]) => [name, points]).sort()).toEqual([
        ["reader", 20],
        ["viewer", 20],
      ]);
    });
  });

  test("a correct prediction, and takes the points back when the outcome is corrected", async () => {
    const board = await newBoard({ rules: [{ on: "prediction.correct", points: 50 }] });
    const poll = await newPoll();
    await answer(poll._id, idOf(poll, 0));
    await answer(poll._id, idOf(poll, 1), "reader");
    await settle(poll._id, idOf(poll, 0));
    await becomes(board._id, [[1, "viewer", 50]]);
    await settle(poll._id, idOf(poll, 1));
    await becomes(board._id, [
      [1, "reader", 50],
      [2, "viewer", 0],
    ]);
    const ledger = parseLedger((await site.call("exportLeaderboard", { params: { id: board._id } })).text);
    expect(ledger.map(({ points, rule }) => [points, rule]).sort()).toEqual([
      ["-50", "prediction.correct"],
      ["50", "prediction.correct"],
      ["50", "prediction.correct"],
    ]);
  });

  test("a completed quest when its reward is claimed, and for the reward when it is delivered", async () => {
    const board = await newBoard({
      rules: [
        { on: "quest.completed", points: 30 },
        { on: "claim.succeeded", points: 5 },
      ],
    });
    const elsewhere = await newBoard({ channelIds: [site.channels[1]], rules: [{ on: "quest.completed", points: 30 }] });
    const id = await completedQuest({ channelIds: [site.channels[0]] });
    const claim = (await site.call("claimQuest", { as: "viewer", params: { id } })).as(ClaimStatus);
    await becomes(board._id, [[1, "viewer", 30]]);
    const params = { id: claim._id };
    await site.call("updateClaimStatus", { params, body: { status: "SUCCESS" } });
    await becomes(board._id, [[1, "viewer", 35]]);
    expect(await ranks(elsewhere._id)).toEqual([]);
  });

  test("a minute of watching, once for all screens", async () => {
    const board = await newBoard({ channelIds: [site.channels[0]], rules: [{ on: "minute.watched", points: 2 }] });
    const now = Date.now();
    const minute = Math.floor(now / MINUTE);
    const seen = (channelId: string, minutes: number[]) => ({
      ...{ accountId: site.accounts.viewer.id, kind: "watch" as const, targetId: "video", channelId, seconds: 130, since: now - 130_000 },
      ...{ firstAt: now - 130_000, lastAt: now, minutes },
    });
    await recordActivity(env, site.id, [seen(site.channels[0], [minute - 1, minute])]);
    await recordActivity(env, site.id, [seen(site.channels[0], [minute]), seen(site.channels[1], [minute - 2])]);
    await awardWatched(board._id);
    // Sent again once they are awarded, with one more.
    await recordActivity(env, site.id, [seen(site.channels[0], [minute - 1, minute])]);
    await awardWatched(board._id);
    expect(await ranks(board._id)).toEqual([[1, "viewer", 4]]);
  });

  test("the author of a message that others react to, once for each of them, and never for an own reaction", async () => {
    const channelId = await site.addChannel("liked");
    const board = await newBoard({ channelIds: [channelId], rules: [{ on: "message.liked", points: 2 }] });
    const sent = await site.call("sendChatMessage", { as: "viewer", params: { channelId }, body: { text: "What a goal" } });
    const { _id: id } = ChatMessage.pick({ _id: true }).parse(sent.body);
    const react = async (as: "viewer" | "reader" | "creator", emoji: string | null) =>
      expect((await site.call("reactToChatMessage", { as, params: { channelId, id }, body: { emoji } })).status).toBeLessThan(300);
    await react("viewer", "👍");
    await react("reader", "👍");
    await react("reader", null);
    await react("reader", "❤️");
    await react("creator", "👍");
    await becomes(board._id, [[1, "viewer", 4]]);
    expect((await site.call("exportLeaderboard", { params: { id: board._id } })).text).not.toContain(site.accounts.reader.id);
  });

  test("no more than its limit per day", async () => {
    const board = await newBoard({ rules: [{ on: "minute.watched", points: 1, perDay: 3 }] });
    const day = Math.floor(Date.now() / (24 * HOUR)) * 24 * 60;
    const row = { accountId: site.accounts.viewer.id, kind: "watch" as const, targetId: "v", channelId: site.channels[0], seconds: 600 };
    const times = { since: day * MINUTE, firstAt: day * MINUTE, lastAt: day * MINUTE + 600_000 };
    await recordActivity(env, site.id, [{ ...row, ...times, minutes: [day + 1, day + 2, day + 3, day + 4, day - 1] }]);
    await awardWatched(board._id);
    expect(await ranks(board._id)).toEqual([[1, "viewer", 4]]);
  });

  test("nothing before the start and after the end of its period, and nothing after it was removed", async () => {
    const rules = [{ on: "quest.completed", points: 30 }];
    const now = Date.now();
    const over = await newBoard({ period: "event", startsAt: now - 2 * HOUR, endsAt: now - HOUR, rules });
    const early = await newBoard({ period: "season", startsAt: now + HOUR, endsAt: now + 2 * HOUR, rules });
    const removed = await newBoard({ rules });
    await site.call("replaceLeaderboard", { params: { id: removed._id }, body: { name: "No rules", period: "all" } });
    const current = await newBoard({ period: "event", startsAt: now - HOUR, endsAt: now + HOUR, rules });
    await site.call("claimQuest", { as: "viewer", params: { id: await completedQuest() } });
    await becomes(current._id, [[1, "viewer", 30]]);
    for (const board of [over, early, removed]) expect(await ranks(board._id)).toEqual([]);
    await marker(over._id);
    expect(await ranks(over._id)).toEqual([[1, "admin", 1]]);
  });
});

test("a site without leaderboards pays nothing: votes and minutes are written in one round trip, and no object is called", async () => {
  const own2 = await newSite();
  const [batch, prepare, objects] = [vi.spyOn(siteStore, "batch"), vi.spyOn(siteStore, "prepare"), vi.spyOn(env.LEADERBOARD, "getByName")];
  const at = Date.now();
  const row = { accountId: own2.accounts.viewer.id, kind: "watch" as const, targetId: "v", channelId: own2.channels[0], seconds: 60 };
  await recordActivity(env, own2.id, [{ ...row, since: at, firstAt: at, lastAt: at, minutes: [1] }]);
  const vote = { accountId: row.accountId, n: 1, answerId: "a", created: at, seq: 1, channelId: "" };
  await writeVotes(env, { siteId: own2.id, pollId: "none", counter: 0 }, [vote]);
  // Others may write meanwhile.
  const written = batch.mock.calls.map(([statements]) => statements).filter((each) => each.some((one) => mentions(one, row.accountId)));
  const tables = ["viewer_activity", "poll_responses", "leaderboards"];
  const prepared = prepare.mock.calls.filter(([sql]) => tables.some((table) => sql.includes(table)));
  const batched = written.flat().filter((statement) => tables.some((table) => mentions(statement, table)));
  const calls = objects.mock.calls.filter(([name]) => name.startsWith(own2.id));
  vi.restoreAllMocks();
  expect({ batches: written.length, batched: batched.length, prepared: prepared.length }).toEqual({ batches: 2, batched: 4, prepared: 4 });
  expect(calls).toEqual([]);
});

describe("viewers of the channel", () => {
  test("receive the top of its leaderboard, and no names of hidden or deleted accounts", async () => {
    const [channel, other] = [await site.addChannel("live-ranks"), await site.addChannel("live-other")];
    const [viewer, elsewhere] = [await enter(channel), await enter(other)];
    const { _id } = await newBoard({ channelIds: [channel] });
    const fan = await site.addAccount("fan", []);
    await award(_id, { accountId: fan.id, points: 3 });
    const top = (on: TestViewer) =>
      on.frames.flatMap((frame) =>
        frame.type === "leaderboard.updated" && frame.leaderboard.leaderboardId === _id ? [frame.leaderboard.top] : [],
      );
    await vi.waitFor(() => expect(top(viewer).at(-1)).toEqual([{ rank: 1, accountId: fan.id, name: "fan", points: 3 }]));
    await site.call("updateAccount", { params: { id: fan.id }, body: { name: "Fan", leaderboardHidden: true } });
    await vi.waitFor(() => expect(top(viewer).at(-1)).toEqual([{ rank: 1, accountId: null, name: null, points: 3 }]));
    const later = await enter(channel);
    await vi.waitFor(() => expect(top(later)).toHaveLength(1));
    expect(top(later)[0]).toEqual((await page(_id)).results);
    expect(top(elsewhere)).toEqual([]);
    expect(await own(_id)).toMatchObject({ rank: null, members: 1 });
  });
});
