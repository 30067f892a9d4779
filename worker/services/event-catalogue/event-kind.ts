import type { z } from "@hono/zod-openapi";
import type { WebhookService } from "#db/enums.ts";

type Services = readonly [WebhookService, ...WebhookService[]];

/** Sample values: an entry applies to the matching types, and later entries override the fields of earlier ones. */
export type SampleValues = readonly (readonly [types: RegExp, values: Record<string, unknown>])[];

/** An area's definition of one of its events. */
interface EventRow {
  /** The schema of the event's `data`. */
  data: z.ZodObject;
  description: string;
  /**
   * The event's resource, if it isn't "<first word of its type>/_id": an area and the path of the id in `data`, or several
   * alternatives.
   */
  resource?: string | readonly string[];
}

/** An event of the catalogue. */
export interface EventKind extends EventRow {
  /** The services whose webhooks deliver it, most specific first. */
  services: Services;
  /** The area's sample ids, by the name of what they identify. */
  ids: Readonly<Record<string, string>>;
  samples: SampleValues;
}

interface Shared {
  services: Services;
  ids?: EventKind["ids"];
  samples?: SampleValues;
}

/** Defines events that belong to the same services; `ids` are of resources in samples, `samples` has better values than the generated ones. */
export function eventsOf<const Rows extends Record<string, EventRow>>(
  shared: Shared,
  rows: Rows,
): { readonly [Type in keyof Rows]: Rows[Type] & Omit<EventKind, keyof EventRow> };
export function eventsOf({ services, ids = {}, samples = [] }: Shared, rows: Record<string, EventRow>): Record<string, EventKind> {
  return Object.fromEntries(Object.entries(rows).map(([type, row]) => [type, { ...row, services, ids, samples }]));
}
