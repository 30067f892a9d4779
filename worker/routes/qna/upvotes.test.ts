import { beforeAll, describe, expect, onTestFinished, test, vi } from "vitest";
import { newSite, type TestSite } from "#test/harness.ts";
import { questionsOf, votersOf } from "#test/questions.ts";
import { Question } from "#worker/services/qna/schemas.ts";
import { QuestionBoard } from "#worker/durable-objects/question-board.ts";

let site: TestSite;

beforeAll(async () => {
  site = await newSite();
});

const { newFan, ask, decide, newQuestion, vote, unvote, find } = questionsOf(() => site);
const fans = (count: number) => Promise.all(Array.from({ length: count }, () => newFan()));

describe("an upvote", () => {
  test("counts once per account, and can be taken back", async () => {
    const { _id } = await newQuestion("approved");
    const { headers } = await newFan();
    const counts = [];
    for (const call of [vote, vote, unvote, unvote, vote]) counts.push((await call(_id, headers)).as(Question));
    expect(counts.map(({ upvotes, upvoted }) => [upvotes, upvoted])).toEqual([
      [2, true],
      [2, true],
      [1, false],
      [1, false],
      [2, true],
    ]);
  });

  test.each(["submitted", "dismissed", "answered", "merged"] as const)("for a question that is %s is a 409", async (state) => {
    const { _id, upvotes } = await newQuestion(state);
    const { headers } = await newFan();
    for (const call of [vote, unvote]) expect((await call(_id, headers)).problem).toMatchObject({ status: 409, code: "conflict" });
    expect(await find(_id)).toMatchObject({ upvotes });
  });

  test("is exact however many arrive at once", async () => {
    const { _id } = await newQuestion("approved");
    const crowd = await fans(12);
    const calls = crowd.flatMap(({ headers }, index) => [
      vote(_id, headers),
      vote(_id, headers),
      ...(index < 4 ? [unvote(_id, headers)] : []),
    ]);
    expect(new Set((await Promise.all(calls)).map(({ status }) => status))).toEqual(new Set([200]));
    const voters = await votersOf(_id);
    expect(await find(_id)).toMatchObject({ upvotes: voters.length });
    expect(voters.length).toBeGreaterThanOrEqual(9);
    expect(voters.length).toBeLessThanOrEqual(13);
  });

  test("is a 503 if the viewers can't be notified, and counts once when it is sent again", async () => {
    const { _id } = await newQuestion("approved");
    const { headers } = await newFan();
    // Not just once: the effects of the question's events notify the board too, possibly before the vote does.
    const unavailable = vi.spyOn(QuestionBoard.prototype, "changed").mockRejectedValue(new Error("unavailable"));
    onTestFinished(() => unavailable.mockRestore());
    expect((await vote(_id, headers)).problem).toMatchObject({ status: 503, code: "unavailable" });
    unavailable.mockRestore();
    expect((await vote(_id, headers)).as(Question)).toMatchObject({ upvotes: 2, upvoted: true });
  });
});

describe("merging", () => {
  test("unites the voters, and counts those of both questions once", async () => {
    const [target, source] = [await newQuestion("approved"), await newQuestion("approved")];
    const [both, one] = await fans(2);
    for (const { _id } of [target, source]) await vote(_id, both?.headers ?? {});
    await vote(source._id, one?.headers ?? {});
    const merged = await decide(source._id, { state: "merged", mergedInto: target._id });
    expect(merged.as(Question)).toMatchObject({ state: "merged", mergedInto: target._id });
    expect(await find(target._id)).toMatchObject({ upvotes: 4 });
    expect(await votersOf(target._id)).toEqual([target.accountId, source.accountId, both?.id, one?.id].sort());
    expect((await vote(target._id, one?.headers ?? {})).as(Question)).toMatchObject({ upvotes: 4, upvoted: true });
  });

  test("that repeats changes nothing", async () => {
    const [target, source] = [await newQuestion("approved"), await newQuestion("approved")];
    const body = { state: "merged", mergedInto: target._id };
    const [first, second] = [await decide(source._id, body), await decide(source._id, body)];
    expect(second.body).toEqual(first.body);
    expect(await find(target._id)).toMatchObject({ upvotes: 2 });
  });

  test("into a merged question uses that one's target, and earlier merges follow", async () => {
    const [last, middle, first, late] = [
      await newQuestion("approved"),
      await newQuestion("approved"),
      await newQuestion(),
      await newQuestion(),
    ];
    await decide(first._id, { state: "merged", mergedInto: middle._id });
    await decide(middle._id, { state: "merged", mergedInto: last._id });
    expect(await find(first._id)).toMatchObject({ mergedInto: last._id });
    expect((await decide(late._id, { state: "merged", mergedInto: middle._id })).as(Question)).toMatchObject({ mergedInto: last._id });
    expect(await find(last._id)).toMatchObject({ upvotes: 4 });
  });

  test("needs another public question of the same channel", async () => {
    const source = await newQuestion("approved");
    const elsewhere = await newQuestion("approved", "There?", site.channels[1]);
    const [waiting, dismissed] = [await newQuestion("submitted"), await newQuestion("dismissed")];
    const outcome = async (mergedInto: string) => (await decide(source._id, { state: "merged", mergedInto })).status;
    expect(await outcome(source._id)).toBe(400);
    expect(await outcome(elsewhere._id)).toBe(400);
    expect(await outcome(waiting._id)).toBe(409);
    expect(await outcome(dismissed._id)).toBe(409);
  });

  test("of two questions into each other at once merges one of them", async () => {
    const [one, other] = [await newQuestion("approved"), await newQuestion("approved")];
    const responses = await Promise.all([
      decide(one._id, { state: "merged", mergedInto: other._id }),
      decide(other._id, { state: "merged", mergedInto: one._id }),
    ]);
    expect(responses.map(({ status }) => status).sort()).toEqual([200, 409]);
    const states = [await find(one._id), await find(other._id)].map((question) => question?.state);
    expect(states.sort()).toEqual(["approved", "merged"]);
  });

  test("loses no vote that arrives at the same time", async () => {
    const [target, source] = [await newQuestion("approved"), await newQuestion("approved")];
    const crowd = await fans(8);
    const votes = crowd.map(({ headers }) => vote(source._id, headers));
    const [merged, ...voted] = await Promise.all([decide(source._id, { state: "merged", mergedInto: target._id }), ...votes]);
    expect(merged.status).toBe(200);
    const counted = voted.filter(({ status }) => status === 200).length;
    const voters = await votersOf(target._id);
    expect(await find(target._id)).toMatchObject({ upvotes: voters.length });
    expect(voters.length).toBeGreaterThanOrEqual(2 + counted);
  });
});

test("an account can take back the upvote that came with its question", async () => {
  const fan = await newFan();
  const { _id } = (await ask("Mine?", fan.headers)).as(Question);
  await decide(_id, { state: "approved" });
  expect((await unvote(_id, fan.headers)).as(Question)).toMatchObject({ upvotes: 0, upvoted: false });
});
