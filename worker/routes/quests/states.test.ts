import { z } from "@hono/zod-openapi";
import { beforeAll, describe, expect, test } from "vitest";
import { type Caller, newSite, type TestSite } from "#test/harness.ts";
import { pollCalls, idOf } from "#test/polls.ts";
import { newId } from "#worker/lib/ids.ts";
import { Quest, QuestState } from "#worker/services/quests/schemas.ts";

const texts = { title: "First half hero", description: "Join in", rewardDescription: "A shirt", claimedMessage: "SHIRT-2026" };

let site: TestSite;

beforeAll(async () => {
  site = await newSite();
});

const { newPoll, answer } = pollCalls(() => site);

async function newQuest(kinds: string[], change: Record<string, unknown> = {}): Promise<string> {
  const actions = kinds.map((kind, index) => ({
    arrayId: `action00${String(index)}`,
    body: "Do it",
    kind,
    callToAction: "https://demo.example",
  }));
  const body = { siteId: site.id, ...texts, rewardType: "prize", actions, ...change };
  return (await site.call("createQuest", { body })).as(Quest)._id;
}

const list = (ids: string[], as: Caller = "viewer", on = site) => on.call("listQuestStates", { as, query: { ids: ids.join(",") } });
const states = async (ids: string[], as?: Caller) => (await list(ids, as)).as(z.array(QuestState));
const share = (id: string, as: Caller = "viewer") =>
  site.call("reportQuestAction", { params: { id, arrayId: "action000" }, as, body: { value: "https://demo.example" } });

describe("the states of quests", () => {
  test("are the quests with the caller's progress and claim, in the order of the ids", async () => {
    const [shared, answered] = [await newQuest(["open:link"]), await newQuest(["answer:predictions:any", "quest:view"])];
    await share(shared);
    const claim = (await site.call("claimQuest", { as: "viewer", params: { id: shared } })).body;
    const poll = await newPoll();
    await answer(poll._id, idOf(poll, 0));
    const found = await states([answered, newId(1), shared]);
    expect(found).toMatchObject([
      { quest: { _id: answered }, progress: { complete: false, actions: [{ done: true }, { done: false }] }, claim: null },
      { quest: { _id: shared }, progress: { complete: true }, claim },
    ]);
    for (const { quest, progress } of found) {
      const params = { id: quest._id };
      expect(quest).toEqual((await site.call("getQuest", { as: "viewer", params })).body);
      expect(progress).toEqual((await site.call("getQuestProgress", { as: "viewer", params })).body);
    }
  });

  test("are those of the caller only", async () => {
    const id = await newQuest(["open:link"]);
    await share(id, "reader");
    await site.call("claimQuest", { as: "reader", params: { id } });
    expect(await states([id])).toMatchObject([{ progress: { accountId: site.accounts.viewer.id, complete: false }, claim: null }]);
    const other = await newSite();
    expect((await list([id], "viewer", other)).body).toEqual([]);
  });

  test("have a quest's internal fields only for those who manage it", async () => {
    const id = await newQuest(["open:link"]);
    expect((await states([id]))[0]?.quest.claimedMessage).toBe("");
    expect((await states([id], "admin"))[0]?.quest.claimedMessage).toBe(texts.claimedMessage);
  });

  test("cost the database one round trip for all quests, and one for what they all count", async () => {
    const reported = [await newQuest(["open:link"]), await newQuest(["open:link"])];
    expect((await list(reported)).log.d1).toMatchObject({ roundTrips: 1 });
    const answered = [await newQuest(["answer:polls:any"]), await newQuest(["answer:predictions:any"])];
    expect((await list([...reported, ...answered])).log.d1).toMatchObject({ roundTrips: 2 });
  });

  test("can't be asked for with more than 20 ids, or without an account", async () => {
    const response = await list(Array.from({ length: 21 }, (_, n) => newId(n)));
    expect([response.status, response.fields]).toEqual([400, ["ids"]]);
    expect((await list([newId(1)], "client")).status).toBe(401);
  });
});
