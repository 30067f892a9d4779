import { Validator } from "@cfworker/json-schema";
import { expect, test } from "vitest";
import { WEBHOOK_SERVICES } from "#db/enums.ts";
import { EVENTS } from "./event-catalogue.ts";
import type { EventKind } from "./event-kind.ts";
import { eventCatalogue, sampleEvent } from "./event-samples.ts";

const kinds = Object.entries<EventKind>(EVENTS);

test.each(kinds)("the sample of %s is what such an event tells, by zod and by the schema that is published", (type, { data }) => {
  const entry = eventCatalogue().find((event) => event.type === type);
  expect(data.safeParse(entry?.sample.data).error?.issues ?? []).toEqual([]);
  const { errors } = new Validator(entry?.schema ?? {}, "2020-12").validate(entry?.sample);
  expect(errors).toEqual([]);
});

test("the published schema refuses another event", () => {
  const schema = eventCatalogue().find(({ type }) => type === "overlay.created")?.schema ?? {};
  expect(new Validator(schema, "2020-12").validate(sampleEvent("panel.created")).valid).toBe(false);
});

test("no sample holds a secret", () => {
  const fields = /"(password|passwordHash|secret|key|token|refreshToken|jwt|accessCode|streamKey|authorization)":"[^"]/;
  for (const { sample } of eventCatalogue()) expect(JSON.stringify(sample)).not.toMatch(fields);
});

test("each event is told of by a service that can be subscribed to", () => {
  for (const { services, type } of eventCatalogue())
    expect(
      services.filter((service) => WEBHOOK_SERVICES.includes(service)),
      type,
    ).not.toEqual([]);
});

test("no sample speaks of an account of the demo", () => {
  for (const { type, sample } of eventCatalogue()) expect(JSON.stringify(sample), type).not.toMatch(/"5eed0000000000000000a/);
});
