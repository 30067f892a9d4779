import { expect, test } from "vitest";
import { believable } from "./believable.ts";

const ID = "5eed0000000000000000c001";

test("ids of different things differ, and those of one thing agree", () => {
  const [one, other] = [believable({ channelId: ID, pollId: ID, answers: [{ _id: ID, pollId: ID }] }), believable({ pollId: ID })];
  expect(one).toMatchObject({ channelId: ID });
  expect(Reflect.get(Object(one), "pollId")).not.toBe(ID);
  expect(Reflect.get(Object(one), "pollId")).toBe(Reflect.get(Object(other), "pollId"));
  expect(JSON.stringify(one).match(/[0-9a-f]{24}/g)).toHaveLength(4);
});

test("an end comes after its start, and what isn't a time stays", () => {
  const at = 1795166400000;
  expect(believable({ startsAt: at, endsAt: at, created: at, modified: at, end: 5, name: "Derby" })).toEqual({
    ...{ startsAt: at, endsAt: at + 7_200_000, created: at, modified: at + 93_600_000 },
    ...{ end: 5, name: "Derby" },
  });
});

test("a resource's own id is the one by which others refer to it", () => {
  const idIn = (value: unknown, name: string): unknown => Reflect.get(Object(value), name);
  const poll = believable({ _id: ID, channelId: ID }, "PollAsRead");
  expect(idIn(poll, "_id")).toBe(idIn(believable({ pollId: ID }), "pollId"));
  expect(idIn(poll, "_id")).not.toBe(idIn(poll, "channelId"));
  expect(idIn(believable({ _id: ID }, "Site"), "_id")).toBe("5eed00000000000000000001");
});
