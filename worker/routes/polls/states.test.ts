import { runDurableObjectAlarm } from "cloudflare:test";
import { env } from "cloudflare:workers";
import { z } from "@hono/zod-openapi";
import { beforeAll, describe, expect, onTestFinished, test, vi } from "vitest";
import { newSite, type TestSite } from "#test/harness.ts";
import { idOf, pollCalls } from "#test/polls.ts";
import { counterOf } from "#worker/durable-objects/poll-counter/poll-counter.protocol.ts";
import { PollCounter } from "#worker/durable-objects/poll-counter/poll-counter.ts";
import { counterAt } from "#worker/durable-objects/stubs.ts";
import { newId } from "#worker/lib/ids.ts";
import { PollState } from "#worker/services/polls/schemas.ts";

let site: TestSite;

beforeAll(async () => {
  site = await newSite();
});

const { newPoll, answer, patch, results } = pollCalls(() => site);

const list = (ids: string[], as: "viewer" | "reader" | "client" | "admin" = "viewer") =>
  site.call("listPollStates", { as, query: { ids: ids.join(",") } });

async function states(ids: string[], as?: "viewer" | "reader" | "client" | "admin"): Promise<PollState[]> {
  return (await list(ids, as)).as(z.array(PollState));
}

describe("the states of polls", () => {
  test("are the polls with their results and the caller's responses, in the order of the ids", async () => {
    const [one, other] = [await newPoll(), await newPoll({ responsesPerViewer: 2 })];
    const first = (await answer(other._id, idOf(other, 1))).body;
    const second = (await answer(other._id, idOf(other, 0))).body;
    await answer(one._id, idOf(one, 0), "reader");
    const found = await states([other._id, newId(1), one._id]);
    expect(found.map(({ poll }) => poll._id)).toEqual([other._id, one._id]);
    expect(found.map(({ responses }) => responses)).toEqual([[first, second], []]);
    expect(found.map((state) => state.results)).toEqual([await results(other._id), await results(one._id)]);
    expect(found.map((state) => state.results?.total)).toEqual([2, 1]);
    expect(found[0]?.poll).toEqual((await site.call("getPoll", { as: "viewer", params: { id: other._id } })).body);
  });

  test("have no responses without an account", async () => {
    const poll = await newPoll();
    await answer(poll._id, idOf(poll, 0));
    expect(await states([poll._id], "client")).toMatchObject([{ results: { total: 1 }, responses: [] }]);
  });

  test("have each response once, whether it is in the database yet or not", async () => {
    const poll = await newPoll({ responsesPerViewer: 3 });
    await answer(poll._id, idOf(poll, 0));
    await runDurableObjectAlarm(counterAt(env, site.id, poll._id, counterOf(site.accounts.viewer.id)));
    await answer(poll._id, idOf(poll, 1));
    const own = async () => (await states([poll._id]))[0]?.responses?.map(({ answerId }) => answerId);
    expect(await own()).toEqual([idOf(poll, 0), idOf(poll, 1)]);
    await patch(poll._id, { open: false });
    expect(await own()).toEqual([idOf(poll, 0), idOf(poll, 1)]);
  });

  test("hide from viewers what the poll and its results hide", async () => {
    const poll = await newPoll({ type: "trivia", hideResults: true });
    await answer(poll._id, idOf(poll, 1));
    await patch(poll._id, { correctAnswerId: idOf(poll, 1) });
    const [shown] = await states([poll._id]);
    expect(shown).toMatchObject({ poll: { correctAnswerId: null }, results: { hidden: true } });
    expect(shown?.results?.answers.some(({ responses }) => responses !== undefined)).toBe(false);
    const [managed] = await states([poll._id], "admin");
    expect(managed).toMatchObject({ poll: { correctAnswerId: idOf(poll, 1) }, results: { hidden: false } });
  });

  test("cost the database one round trip, however many polls there are", async () => {
    const polls = [await newPoll(), await newPoll(), await newPoll()];
    const ids = polls.map(({ _id }) => _id);
    expect((await list(ids)).log.d1).toMatchObject({ roundTrips: 1 });
    expect((await list(ids, "client")).log.d1).toMatchObject({ roundTrips: 1 });
  });

  test("are those of the caller's site only", async () => {
    const poll = await newPoll();
    const other = await newSite();
    expect((await other.call("listPollStates", { as: "viewer", query: { ids: poll._id } })).body).toEqual([]);
  });

  test("are returned without the results of a poll whose counters don't respond", async () => {
    const [broken, sound] = [await newPoll(), await newPoll()];
    await answer(sound._id, idOf(sound, 0));
    const sum = vi.spyOn(PollCounter.prototype, "sum").mockRejectedValueOnce(new Error("overloaded"));
    const own = vi.spyOn(PollCounter.prototype, "votesOf").mockImplementationOnce(() => {
      throw new Error("overloaded");
    });
    onTestFinished(() => void vi.restoreAllMocks());
    const found = await states([broken._id, sound._id]);
    expect([sum, own].map(({ mock }) => mock.calls.length)).toEqual([2, 2]);
    expect(found).toMatchObject([
      { poll: { _id: broken._id }, results: null, responses: null },
      { poll: { _id: sound._id }, results: { total: 1 }, responses: [{ answerId: idOf(sound, 0) }] },
    ]);
  });

  test.for([["more than 20 ids", Array.from({ length: 21 }, (_, n) => newId(n))] as const, ["what isn't an id", ["derby"]] as const])(
    "can't be asked for with %s",
    async ([, ids]) => {
      const response = await list([...ids]);
      expect([response.status, response.fields[0]]).toEqual([400, expect.stringMatching(/^ids/)]);
    },
  );
});
