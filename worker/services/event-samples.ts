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

function describeEvent(type: string, kind: EventKind): CataloguedEvent {
  const { data, description, sample = {} } = kind;
  const schema = toJsonSchema(EventData.extend({ type: z.literal(type), data }));
  const madeUp = z.record(z.string(), z.unknown()).parse(sampleOf(toJsonSchema(data)));
  const told = Object.entries(sample).filter(([field]) => field in data.shape);
  const values = { ...madeUp, ...Object.fromEntries(told) };
  const [resource = ""] = resourcesOf(type, kind, values);
  return {
    type,
    description,
    services: [...servicesOf(type)],
    schema,
    sample: {
      ...{
        id: ID,
        type,
        created: MOMENT,
        sequence: 1,
        previousSequence: null,
        resource: resource.endsWith("/") ? resource + ID : resource,
      },
      data: values,
    },
  };
}

function toJsonSchema(schema: z.ZodType): Record<string, unknown> {
  return { ...z.toJSONSchema(schema, { unrepresentable: "any" }) };
}

/** What an event with such data may have happened to: "<area>/<id>", or "<area>/" where the data don't tell the id. */
export function resourcesOf(type: string, { resource }: EventKind, data: Record<string, unknown>): string[] {
  return [resource ?? `${type.split(/[._]/)[0]}/_id`].flat().map((form) => {
    const [area, path = ""] = form.split("/");
    const id = path.split(".").reduce<unknown>((value, field) => readField(value, field), data);
    return `${area}/${typeof id === "string" ? id : ""}`;
  });
}

function readField(value: unknown, field: string): unknown {
  return typeof value === "object" && value !== null ? Reflect.get(value, field) : undefined;
}
