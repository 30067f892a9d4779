import { z } from "@hono/zod-openapi";
import type { WebhookService } from "../../db/enums.ts";
import { sampleOf } from "../lib/sample.ts";
import { EventData } from "../routes/webhooks/endpoint-schemas.ts";
import { EVENTS, type EventKind, type EventType } from "./event-catalogue.ts";
import { servicesOf } from "./event-services.ts";

const MOMENT = 1795273200000;
const ID = "5eed0000000000000000c001";

/** An event as the catalogue shows it. */
export interface CataloguedEvent {
  type: string;
  description: string;
  services: WebhookService[];
  schema: Record<string, unknown>;
  sample: z.output<typeof EventData>;
}

// The same for everybody and costly to make: once per isolate, when it is first asked for.
let catalogue: CataloguedEvent[] | undefined;

/** Every event, by type. */
export function eventCatalogue(): CataloguedEvent[] {
  catalogue ??= Object.entries<EventKind>(EVENTS).map(([type, kind]) => describeEvent(type, kind));
  return catalogue;
}

/** An event of a type as it might come. */
export function sampleEvent(type: EventType): z.output<typeof EventData> {
  return describeEvent(type, EVENTS[type]).sample;
}

function describeEvent(type: string, { data, description, sample = {} }: EventKind): CataloguedEvent {
  const schema = toJsonSchema(EventData.extend({ type: z.literal(type), data }));
  const madeUp = z.record(z.string(), z.unknown()).parse(sampleOf(toJsonSchema(data)));
  const told = Object.entries(sample).filter(([field]) => field in data.shape);
  const values = { ...madeUp, ...Object.fromEntries(told) };
  return {
    type,
    description,
    services: [...servicesOf(type)],
    schema,
    sample: {
      ...{ id: ID, type, created: MOMENT, sequence: 1, previousSequence: null, resource: resourceOf(type, values) },
      data: values,
    },
  };
}

function toJsonSchema(schema: z.ZodType): Record<string, unknown> {
  return { ...z.toJSONSchema(schema, { unrepresentable: "any" }) };
}

function resourceOf(type: string, { _id = ID }: Record<string, unknown>): string {
  const area = type === "new_account" ? "account" : type.split(/[._]/)[0];
  return `${area}/${typeof _id === "string" ? _id : ID}`;
}
