import { describe, expect, test } from "vitest";
import { drawWinners, newSeed, RAFFLE_ALGORITHM } from "#worker/services/quests/raffle-draw.ts";
import { draftOf, KINDS, newTask, type Quest, questOf } from "./draft.ts";
import { verifyDraw } from "./proof.ts";

const quest: Quest = {
  _id: "q",
  siteId: "s",
  title: "First half hero",
  description: "Read the line-up",
  rewardType: "prize",
  rewardDescription: "A shirt",
  rewardImage: null,
  productId: "sku",
  claimCost: 5,
  rewardAmount: 100,
  regions: ["DE"],
  claimedMessage: "Well done",
  timeMinimum: 1_795_273_200,
  timeMaximum: null,
  webhookId: "w",
  webhookType: null,
  webhookValue: "v",
  channelIds: ["c"],
  tags: ["derby"],
  actions: [
    {
      ...{ arrayId: "a1B2c3D4e", body: "Watch ten minutes", kind: "watch:any:video", callToAction: null, channelId: "c" },
      ...{ validationValue: null, valueRequired: 10, timeMinimum: null, timeMaximum: 1_795_276_800 },
    },
  ],
  raffle: null,
  state: "open",
  created: 1,
  modified: 1,
};

describe("the form of a quest", () => {
  test("saves what it was filled from, with what it doesn't show", () => {
    const { _id, raffle, state, created, modified, ...input } = quest;
    expect([_id, raffle, state, created, modified]).toHaveLength(5);
    expect(questOf(draftOf(quest), "s", quest)).toEqual(input);
  });

  test("sends a task only what its kind needs", () => {
    const task = { ...newTask(), validationValue: "x", callToAction: "https://demo.example", valueRequired: "3" };
    const [link, minutes] = questOf({ ...draftOf(quest), tasks: [{ ...task, kind: "open:link" }, task] }, "s", null).actions ?? [];
    expect(link).toMatchObject({
      validationValue: "x",
      callToAction: "https://demo.example",
      valueRequired: null,
      body: KINDS["open:link"].text,
    });
    expect(minutes).toMatchObject({ validationValue: null, callToAction: null, valueRequired: 3 });
  });

  test("gives every task an id of nine letters or digits", () => {
    expect(newTask().arrayId).toMatch(/^[A-Za-z0-9]{9}$/);
  });
});

describe("the proof of a draw", () => {
  const { seed, commitment } = newSeed();
  const entrants = Array.from({ length: 50 }, (_, index) => `5eed000000000000000${String(index).padStart(5, "0")}`);
  const winners = drawWinners(seed, entrants, 3).map((claimId) => ({ claimId, accountId: "x" }));
  const result = { winners, entrants, seed, commitment, algorithm: RAFFLE_ALGORITHM };

  test("holds for what the server draws", async () => {
    expect(await verifyDraw(result, commitment)).toEqual({ seedIsCommitted: true, winnersFollow: true });
  });

  test("fails for another seed than the published one, or other winners", async () => {
    expect((await verifyDraw(result, newSeed().commitment)).seedIsCommitted).toBe(false);
    expect((await verifyDraw({ ...result, seed: newSeed().seed }, commitment)).seedIsCommitted).toBe(false);
    expect((await verifyDraw({ ...result, winners: winners.toReversed() }, commitment)).winnersFollow).toBe(false);
  });
});
