import type { z } from "@hono/zod-openapi";
import type { WebhookService } from "#db/enums.ts";

type Services = readonly [WebhookService, ...WebhookService[]];

/** Values of samples: an entry applies to the types that match, and a later one replaces the fields of those before it. */
export type SampleValues = readonly (readonly [types: RegExp, values: Record<string, unknown>])[];

/** What an area says of one of its events. */
interface EventRow {
  /** The schema of the event's `data`. */
  data: z.ZodObject;
  description: string;
  /**
   * The resource that the event is about, where that is not "<first word of its type>/_id": an area and the path of the id in `data`; or
   * several, of which each event has one.
   */
  resource?: string | readonly string[];
}

/** An event of the catalogue. */
export interface EventKind extends EventRow {
  /** The services whose webhooks deliver it, the closest one first. */
  services: Services;
  samples: SampleValues;
}

interface Shared {
  services: Services;
  samples?: SampleValues;
}

/** Rows of the event catalogue that belong to the same services; `samples` has values that fit better than generated ones. */
export function eventsOf<const Rows extends Record<string, EventRow>>(
  shared: Shared,
  rows: Rows,
): { readonly [Type in keyof Rows]: Rows[Type] & EventKind };
export function eventsOf({ services, samples = [] }: Shared, rows: Record<string, EventRow>): Record<string, EventKind> {
  return Object.fromEntries(Object.entries(rows).map(([type, row]) => [type, { ...row, services, samples }]));
}
