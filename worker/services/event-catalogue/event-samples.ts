import { z } from "@hono/zod-openapi";
import type { WebhookService } from "#db/enums.ts";
import { sampleOf } from "./sample.ts";
import { EventData } from "#worker/services/webhooks/endpoint-schemas.ts";
import { EVENTS, type EventType } from "./event-catalogue.ts";
import type { EventKind } from "./event-kind.ts";
import { MONTH, SAMPLE_IDS, SAMPLE_MOMENT } from "./sample-ids.ts";

/** Fields with the same meaning in every event. */
const COMMON_VALUES: Record<string, unknown> = {
  siteId: SAMPLE_IDS.site,
  site_id: SAMPLE_IDS.site,
  accountId: SAMPLE_IDS.viewer,
  channelId: SAMPLE_IDS.page,
  streamId: SAMPLE_IDS.stream,
  chargeId: SAMPLE_IDS.charge,
  questId: SAMPLE_IDS.quest,
  entitlementId: SAMPLE_IDS.entitlement,
  providerId: SAMPLE_IDS.dataprovider,
  exportId: SAMPLE_IDS.export,
  created: SAMPLE_MOMENT - MONTH,
  modified: SAMPLE_MOMENT,
  tags: [],
};

/** Types whose event time is also the creation time. */
const CREATES = /([cC]reated|Registered|Added|Started|new_account)$/;

/** An event type as listed in the catalogue. */
export interface CataloguedEvent {
  type: string;
  description: string;
  services: WebhookService[];
  schema: Record<string, unknown>;
  sample: z.output<typeof EventData>;
}

// The same for every caller and expensive to build: built once per isolate, on first use.
let catalogue: CataloguedEvent[] | undefined;

/** All event types, sorted. */
export function eventCatalogue(): CataloguedEvent[] {
  catalogue ??= Object.entries<EventKind>(EVENTS)
    .map(([type, kind]) => describeEvent(type, kind))
    .sort((one, other) => (one.type < other.type ? -1 : 1));
  return catalogue;
}

/** A sample event of a type. */
export function sampleEvent(type: EventType): z.output<typeof EventData> {
  return describeEvent(type, EVENTS[type]).sample;
}

function describeEvent(type: string, kind: EventKind): CataloguedEvent {
  const { data, description, services } = kind;
  const schema = toJsonSchema(EventData.extend({ type: z.literal(type), data }));
  const generated = z.record(z.string(), z.unknown()).parse(sampleOf(toJsonSchema(data)));
  // Fields without a chosen value are generated, so that new fields appear in the samples immediately.
  const chosen = Object.entries(sampleValues(type, kind)).filter(([field]) => field in data.shape);
  const values = { ...generated, ...Object.fromEntries(chosen) };
  const [resource = ""] = resourcesOf(type, kind, values);
  const isFirst = values.created === SAMPLE_MOMENT;
  return {
    type,
    description,
    services: [...services],
    schema,
    sample: {
      ...{
        id: SAMPLE_IDS.event,
        type,
        created: SAMPLE_MOMENT,
        sequence: 1893,
        previousSequence: isFirst ? null : 1871,
        resource: resource.endsWith("/") ? resource + sampleId(resource.slice(0, -1), kind) : resource,
      },
      data: values,
    },
  };
}

/** The fields of a sample with a chosen value. */
function sampleValues(type: string, { samples }: EventKind): Record<string, unknown> {
  const chosen = samples.filter(([types]) => types.test(type)).flatMap(([, values]) => Object.entries(values));
  return { ...COMMON_VALUES, ...Object.fromEntries(chosen), ...(CREATES.test(type) && { created: SAMPLE_MOMENT }) };
}

function toJsonSchema(schema: z.ZodType): Record<string, unknown> {
  return { ...z.toJSONSchema(schema, { unrepresentable: "any" }) };
}

/** The possible resources of an event with this data: "<area>/<id>", or "<area>/" if the data doesn't contain the id. */
export function resourcesOf(type: string, { resource }: EventKind, data: Record<string, unknown>): string[] {
  return [resource ?? `${type.split(/[._]/)[0]}/_id`].flat().map((form) => {
    const [area, path = ""] = form.split("/");
    const id = path.split(".").reduce<unknown>((value, field) => readField(value, field), data);
    return `${area}/${typeof id === "string" ? id : ""}`;
  });
}

/** The id of an area's sample resource, or of the site if it has none. */
function sampleId(area: string, { ids }: EventKind): string {
  return new Map(Object.entries({ ...SAMPLE_IDS, ...ids })).get(area) ?? SAMPLE_IDS.site;
}

function readField(value: unknown, field: string): unknown {
  return typeof value === "object" && value !== null ? Reflect.get(value, field) : undefined;
}
