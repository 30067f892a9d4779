import { env } from "cloudflare:workers";
import { beforeAll, describe, expect, test } from "vitest";
import { createDb } from "#db/client.ts";
import { questReports } from "#db/schema/engagement/quests.ts";
import { type Caller, newSite, type TestSite } from "#test/harness.ts";
import { addResource } from "#test/resources.ts";
import { newId } from "#worker/lib/ids.ts";
import { recordActivity } from "#worker/services/realtime/activity.ts";
import { Poll, PollAnswer } from "#worker/services/polls/schemas.ts";
import { Quest, QuestProgress } from "#worker/services/quests/schemas.ts";
import { siteStore } from "#test/site-store.ts";

const db = createDb(siteStore);
const LINK = "https://demo.example/line-up";
const texts = { title: "First half hero", description: "Join in", rewardDescription: "A shirt", claimedMessage: "Well done" };

let site: TestSite;

beforeAll(async () => {
  site = await newSite();
});

type Action = Record<string, unknown> & { kind: string };

/** A quest with these actions, whose arrayIds are action000, action001 … */
async function newQuest(actions: Action[], change: Record<string, unknown> = {}, on = site): Promise<string> {
  const numbered = actions.map((action, index) => ({ arrayId: `action${String(index).padStart(3, "0")}`, body: "Do it", ...action }));
  const body = { siteId: on.id, ...texts, rewardType: "prize", actions: numbered, ...change };
  return (await on.call("createQuest", { body })).as(Quest)._id;
}

const progressOf = async (id: string, as: Caller = "viewer", on = site) =>
  (await on.call("getQuestProgress", { params: { id }, as })).as(QuestProgress);
const report = (id: string, value?: string, arrayId = "action000", as: Caller = "viewer") =>
  site.call("reportQuestAction", { params: { id, arrayId }, as, body: value === undefined ? {} : { value } });

/** Records activity as a viewer's connection does, `seconds` long and `ago` seconds in the past. */
function see(kind: "watch" | "channel" | "panel", targetId: string, seconds = 0, on = site, ago = 0) {
  const lastAt = Date.now() - ago * 1000;
  const [channelId] = on.channels;
  const firstAt = lastAt - seconds * 1000;
  const seen = { accountId: on.accounts.viewer.id, kind, targetId, channelId, seconds, since: firstAt, firstAt, lastAt };
  return recordActivity(env, on.id, [seen]);
}

describe("quest progress", () => {
  test("depends on the polls that the viewer has answered and their outcomes", async () => {
    const poll = { siteId: site.id, type: "prediction", question: "Who wins?", name: "Result", open: true };
    const created = (await site.call("createPoll", { body: { ...poll, answers: [{ answer: "Home" }, { answer: "Away" }] } })).body;
    const { _id: pollId } = Poll.pick({ _id: true }).parse(created);
    const specific = { callToAction: pollId, validationValue: pollId };
    const id = await newQuest([
      { kind: "answer:predictions:any" },
      { kind: "answer:predictions:specific:correctly", ...specific },
      { kind: "answer:polls:any" },
    ]);
    const done = async (as: Caller) => (await progressOf(id, as)).actions.map((action) => action.done);
    expect(await done("viewer")).toEqual([false, false, false]);
    const [home, away] = PollAnswer.array().parse((await site.call("listPollAnswers", { params: { id: pollId } })).body);
    await site.call("respondToPoll", { params: { id: pollId }, as: "viewer", body: { answerId: home?._id } });
    await site.call("respondToPoll", { params: { id: pollId }, as: "creator", body: { answerId: away?._id } });
    expect(await done("viewer")).toEqual([true, false, false]);
    const settled = await site.call("settlePoll", { params: { id: pollId }, body: { correctAnswerId: home?._id } });
    expect(settled.status, settled.text).toBe(200);
    expect(await done("viewer")).toEqual([true, true, false]);
    expect(await done("creator")).toEqual([true, false, false]);
    expect(await done("admin")).toEqual([false, false, false]);
  });

  test("depends on the activity of the viewer's connection", async () => {
    const own = await newSite();
    const [video, panel] = [await addResource(own, "video"), await addResource(own, "panel")];
    const id = await newQuest(
      [
        { kind: "watch:specific:video", callToAction: "Watch", validationValue: video, valueRequired: 10 },
        { kind: "view:panel", callToAction: "Open", validationValue: panel },
        { kind: "visit:channel", validationValue: own.channels[0] },
      ],
      {},
      own,
    );
    expect(await progressOf(id, "viewer", own)).toEqual({
      questId: id,
      accountId: own.accounts.viewer.id,
      complete: false,
      actions: [
        { arrayId: "action000", kind: "watch:specific:video", current: 0, required: 10, done: false },
        { arrayId: "action001", kind: "view:panel", current: 0, required: 1, done: false },
        { arrayId: "action002", kind: "visit:channel", current: 0, required: 1, done: false },
      ],
    });
    const counts = async () => (await progressOf(id, "viewer", own)).actions.map(({ current }) => current);
    await see("channel", own.channels[0], 0, own);
    expect(await counts()).toEqual([0, 0, 1]);
    await see("panel", panel, 0, own);
    expect(await counts()).toEqual([0, 1, 1]);
    await see("watch", video, 600, own);
    expect((await progressOf(id, "viewer", own)).complete).toBe(true);
    expect((await progressOf(id, "creator", own)).complete).toBe(false);
  });

  test("excludes what happened before its time window, even if it continued within it", async () => {
    const own = await newSite();
    const video = newId(1);
    const timeMinimum = Math.floor(Date.now() / 1000) - 1800;
    const id = await newQuest(
      [
        { kind: "watch:any:video", valueRequired: 20, timeMinimum },
        { kind: "visit:time", timeMinimum, timeMaximum: timeMinimum + 600 },
      ],
      {},
      own,
    );
    const DAY = 86_400;
    await see("watch", video, 3000, own, DAY);
    await see("channel", own.channels[0], 0, own, DAY);
    await see("watch", video, 600, own, 60);
    await see("channel", own.channels[0], 0, own, 60);
    expect((await progressOf(id, "viewer", own)).actions.map(({ current }) => current)).toEqual([10, 0]);
    await see("channel", own.channels[0], 0, own, 1500);
    expect((await progressOf(id, "viewer", own)).actions.map(({ current }) => current)).toEqual([10, 1]);
  });

  test("takes no more round trips than it has sources", async () => {
    const reported = await newQuest([{ kind: "quest:view" }]);
    const all = await newQuest([{ kind: "quest:view" }, { kind: "answer:polls:any" }, { kind: "visit:channel" }]);
    const tripsOf = async (id: string) => (await site.call("getQuestProgress", { params: { id } })).log.d1.roundTrips;
    expect(await tripsOf(reported)).toBe(1);
    expect(await tripsOf(all)).toBe(3);
  });
});

describe("a report", () => {
  test("counts for actions that the server can't observe, each value once and up to the required number", async () => {
    const id = await newQuest([{ kind: "retweet", valueRequired: 2 }]);
    const current = async (value: string) => (await report(id, value)).as(QuestProgress).actions[0]?.current;
    expect(await current("1")).toBe(1);
    expect(await current("1")).toBe(1);
    expect(await current("2")).toBe(2);
    expect(await current("3")).toBe(2);
    expect(await progressOf(id)).toMatchObject({ complete: true, actions: [{ current: 2, required: 2, done: true }] });
    expect((await progressOf(id, "creator")).complete).toBe(false);
    expect(await db.$count(questReports)).toBeGreaterThan(0);
  });

  test("without a value counts each time for retweets", async () => {
    const id = await newQuest([{ kind: "retweet", valueRequired: 3 }]);
    const current = async () => (await report(id)).as(QuestProgress).actions[0]?.current;
    expect([await current(), await current(), await current(), await current()]).toEqual([1, 2, 3, 3]);
    expect((await progressOf(id)).complete).toBe(true);
  });

  test("counts once if it is sent ten times concurrently", async () => {
    const id = await newQuest([{ kind: "retweet", valueRequired: 3 }]);
    const responses = await Promise.all(Array.from({ length: 10 }, () => report(id, "1")));
    expect(responses.map(({ status }) => status)).toEqual(Array(10).fill(200));
    expect((await progressOf(id)).actions[0]?.current).toBe(1);
  });

  test.for(["open:link", "share:facebook:video", "quest:view"])("of %s must match the validationValue", async (kind) => {
    const id = await newQuest([{ kind, callToAction: LINK, validationValue: LINK }]);
    for (const value of ["https://other.example", undefined])
      expect(await report(id, value)).toMatchObject({ status: 400, fields: ["value"] });
    expect((await report(id, LINK)).as(QuestProgress).complete).toBe(true);
    const any = await newQuest([{ kind, callToAction: LINK, validationValue: "*" }]);
    expect((await report(any, "https://other.example")).as(QuestProgress).complete).toBe(true);
    const without = await newQuest([{ kind, callToAction: LINK }]);
    expect((await report(without)).as(QuestProgress).complete).toBe(true);
  });

  test.for(["answer:polls:any", "answer:trivia:any:correctly", "watch:any:video", "visit:channel", "impossible"])(
    "of %s, which the server observes itself, changes nothing",
    async (kind) => {
      const own = site.channels[0];
      const id = await newQuest([{ kind, ...(kind === "visit:channel" && { validationValue: own }) }]);
      expect((await report(id, own)).as(QuestProgress)).toMatchObject({ complete: false, actions: [{ current: 0, done: false }] });
      expect((await progressOf(id)).complete).toBe(false);
    },
  );

  test("is rejected outside the time windows of the action and the quest", async () => {
    const now = Math.floor(Date.now() / 1000);
    const [past, future] = [{ timeMaximum: now - 60 }, { timeMinimum: now + 600 }];
    for (const window of [past, future]) {
      expect((await report(await newQuest([{ kind: "quest:view", ...window }]))).problem).toMatchObject({ status: 409 });
      expect((await report(await newQuest([{ kind: "quest:view" }], window))).problem).toMatchObject({ status: 409 });
    }
    const open = { timeMinimum: now - 60, timeMaximum: now + 600 };
    expect((await report(await newQuest([{ kind: "quest:view", ...open }], open))).as(QuestProgress).complete).toBe(true);
  });

  test("is rejected for an unknown action", async () => {
    const id = await newQuest([{ kind: "quest:view" }]);
    expect((await report(id, undefined, "action009")).problem).toMatchObject({
      status: 404,
      message: "The quest has no action with this arrayId",
    });
  });

  test("is deleted with its quest", async () => {
    const id = await newQuest([{ kind: "quest:view" }]);
    await report(id);
    const kept = async () => (await db.select().from(questReports)).filter(({ questId }) => questId === id).length;
    expect(await kept()).toBe(1);
    await site.call("deleteQuest", { params: { id } });
    expect(await kept()).toBe(0);
  });
});
