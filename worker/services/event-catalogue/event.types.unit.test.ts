import { expect, expectTypeOf, test } from "vitest";
import type { NewEvent } from "#worker/services/core/context.ts";
import { dataOf, type Effects, type LoggedEvent } from "./effect.ts";
import { InvalidEventData } from "./invalid-event-data.ts";
import { type EventData, EVENTS } from "./event-catalogue.ts";
import { sampleEvent } from "./event-samples.ts";

// The compiler runs these: an error that it no longer reports is itself one.

const data = { accountId: "5eed0000000000000e00a003", deviceId: "living-room-tv" };
const resource = `account/${data.accountId}`;

test("a new event has the data that the catalogue lists for its type", () => {
  expectTypeOf<NewEvent<"device.freed">["data"]>().toEqualTypeOf<{ accountId: string; deviceId: string }>();
  expectTypeOf<EventData<"poll.settled">>().toHaveProperty("pollId").toEqualTypeOf<string>();
  const events: NewEvent[] = [
    { type: "device.freed", resource, data },
    // @ts-expect-error: the type is misspelt
    { type: "device.fred", resource, data },
    // @ts-expect-error: the data are those of another event
    { type: "device.freed", resource, data: { siteId: "5eed00000000000000000001", accountId: data.accountId } },
    // @ts-expect-error: the catalogue has no such field
    { type: "device.freed", resource, data: { ...data, device: "living-room-tv" } },
    // @ts-expect-error: the device may not be missing
    { type: "device.freed", resource, data: { accountId: data.accountId } },
  ];
  expect(events).toHaveLength(5);
});

test("a variable type is accepted only if each of its values is an event with this data", () => {
  const change = (verb: "freed" | "claimed"): NewEvent => ({ type: `device.${verb}`, resource, data });
  // @ts-expect-error: there is no event device.lost
  const lose = (verb: "freed" | "lost"): NewEvent => ({ type: `device.${verb}`, resource, data });
  expect([change("freed").type, lose("lost").type]).toEqual(["device.freed", "device.lost"]);
});

test("an effect belongs to an event of the catalogue", () => {
  const run = async (_env: Env, _siteId: string, _event: LoggedEvent<"device.freed">) => undefined;
  const effects: Effects = {
    "device.freed": run,
    // @ts-expect-error: the type is misspelt
    "device.fred": run,
  };
  expect(Object.keys(effects)).toHaveLength(2);
});

test("an effect receives the data of its event", () => {
  const effects: Effects = {
    "device.freed": async (_env, _siteId, event) => {
      expectTypeOf(event.type).toEqualTypeOf<"device.freed">();
      expectTypeOf(dataOf(event)).toEqualTypeOf<{ accountId: string; deviceId: string }>();
      // @ts-expect-error: the catalogue has no such field
      expect(dataOf(event).device).toBeUndefined();
      return dataOf(event).deviceId;
    },
    // @ts-expect-error: this effect is for another event
    "device.claimed": async (_env, _siteId, event: LoggedEvent<"device.freed">) => event.id,
  };
  const entry = { created: 0, sequence: 1, previousSequence: null, actor: "system", requestId: "r1", origin: null };
  const event = { ...entry, id: "5eed0000000000000e00ee01", type: "device.freed", resource, data: JSON.stringify(data) } as const;
  expect(dataOf(event)).toEqual(data);
  expect(Object.keys(effects)).toHaveLength(2);
  expect(() => dataOf({ ...event, data: JSON.stringify({ erased: true }) })).toThrow(/deviceId/);
});

test("an effect receives null for a field that may be null and that an older release didn't log", () => {
  const entry = { created: 0, sequence: 1, previousSequence: null, actor: "system", requestId: "r1", origin: null };
  const kind = EVENTS["admin.wentLive"];
  const { fallbackImageUrl, playback, ...older } = kind.data.parse(sampleEvent("admin.wentLive").data);
  const event = { ...entry, id: "5eed0000000000000e00ee02", type: "admin.wentLive", resource, data: JSON.stringify(older) } as const;
  expect(dataOf(event)).toEqual({ ...older, fallbackImageUrl: null, playback: null });
  expect([fallbackImageUrl, playback]).not.toContain(undefined);
  const { title, ...unreadable } = older;
  expect(title).toBeTypeOf("string");
  expect(() => dataOf({ ...event, data: JSON.stringify(unreadable) })).toThrow(InvalidEventData);
});
