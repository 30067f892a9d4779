import type { WebhookService } from "#db/enums.ts";
import { forbidden } from "#worker/lib/errors.ts";
import { keyAllows } from "#worker/lib/roles.ts";
import type { Actor, Ctx } from "#worker/services/core/context.ts";
import { isEventType, servicesOf } from "#worker/services/event-catalogue/event-catalogue.ts";

/** The service whose events have personal data: names, email addresses, tags, devices, network addresses. Events of others only have ids. */
const PERSONAL: WebhookService = "account-service-v3";

/** The fields of such an event that remain for callers without access to accounts. */
const IDS = ["_id", "siteId", "accountId", "erased"];

/** Whether the caller may read what events say of people: all but developer keys without `account:read`. */
export function mayReadPeople(actor: Actor): boolean {
  return actor.kind !== "developer" || keyAllows(actor.roles, "account", "read");
}

/** Whether events of this type have personal data, which those of an unknown type may have. */
export function hasPeople(type: string): boolean {
  return !isEventType(type) || servicesOf(type).includes(PERSONAL);
}

/** The event without personal data. */
export function withoutPerson<T extends { type: string; data: Record<string, unknown> }>(event: T): T {
  if (!hasPeople(event.type)) return event;
  return { ...event, data: Object.fromEntries(Object.entries(event.data).filter(([field]) => IDS.includes(field))) };
}

/**
 * A 403 for a developer key without `account:read` if an endpoint would receive personal data: a key must not get data through a webhook
 * that it may not read here.
 */
export async function requirePersonalData(ctx: Ctx, ...services: WebhookService[]): Promise<void> {
  if (services.includes(PERSONAL) && !mayReadPeople(await ctx.caller())) {
    throw forbidden("The developer key lacks the role account:read, which webhooks for the events of account-service-v3 require");
  }
}
