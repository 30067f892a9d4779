import { Validator } from "@cfworker/json-schema";
import { expect, test } from "vitest";
import { WEBHOOK_SERVICES } from "#db/enums.ts";
import { EVENTS } from "./event-catalogue.ts";
import type { EventKind } from "./event-kind.ts";
import { eventCatalogue, sampleEvent } from "./event-samples.ts";

const kinds = Object.entries<EventKind>(EVENTS);

test.each(kinds)("the sample of %s matches the zod schema and the published schema", (type, { data }) => {
  const entry = eventCatalogue().find((event) => event.type === type);
  expect(data.safeParse(entry?.sample.data).error?.issues ?? []).toEqual([]);
  const { errors } = new Validator(entry?.schema ?? {}, "2020-12").validate(entry?.sample);
  expect(errors).toEqual([]);
});

test("the published schema rejects another event", () => {
  const schema = eventCatalogue().find(({ type }) => type === "overlay.created")?.schema ?? {};
  expect(new Validator(schema, "2020-12").validate(sampleEvent("panel.created")).valid).toBe(false);
});

test("no sample contains a secret", () => {
  const fields = /"(password|passwordHash|secret|key|token|refreshToken|jwt|accessCode|streamKey|authorization)":"[^"]/;
  for (const { sample } of eventCatalogue()) expect(JSON.stringify(sample)).not.toMatch(fields);
});

test("each event belongs to a service that can be subscribed to", () => {
  for (const { services, type } of eventCatalogue())
    expect(
      services.filter((service) => WEBHOOK_SERVICES.includes(service)),
      type,
    ).not.toEqual([]);
});

test("no sample contains a demo account", () => {
  for (const { type, sample } of eventCatalogue()) expect(JSON.stringify(sample), type).not.toMatch(/"5eed0000000000000000a/);
});
