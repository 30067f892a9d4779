import { and, eq, getTableColumns, lt, sql } from "drizzle-orm";
import { z } from "@hono/zod-openapi";
import { ruleFirings } from "#db/schema/automation-rules.ts";
import { type DataProviderRow, dataProviders, providerEvents } from "#db/schema/data-providers.ts";
import { automationOf } from "#worker/durable-objects/stubs.ts";
import { instanceProblems } from "#worker/integrations/json-schema.ts";
import { wonRace, conflict, Failure, notFound } from "#worker/lib/errors.ts";
import { newId } from "#worker/lib/ids.ts";
import { logError } from "#worker/lib/log.ts";
import { Firing, type ProviderEventRow } from "./schemas.ts";
import type { ProviderEventMessage } from "#worker/services/automation-rules/schemas.ts";
import { commitIfUnchanged, type Ctx, ownRow } from "#worker/services/core/context.ts";
import { callingProvider } from "./data-providers.ts";
import { type ListPage, type ListQuery, listRows, sliceOf, tableList } from "#worker/services/core/listing.ts";

/** How long events and rule firings are kept. */
const RETENTION_MS = 7 * 24 * 60 * 60 * 1000;

const Firings = z.array(Firing);
// As plain text for the same reason as the subselect of broadcasts.
const firedRules =
  sql`(select json_group_array(json_object('ruleId', firing.rule_id, 'name', firing.rule_name, 'outcome', firing.outcome, 'message', firing.message, 'madeId', firing.made_id, 'due', firing.due)) from rule_firings as firing where firing.event_id = provider_events.id)`
    .mapWith((text: string) => Firings.parse(JSON.parse(text)))
    .as("fired");

const eventList = tableList<ProviderEventRow>({
  table: providerEvents,
  rows: (db, slice) =>
    sliceOf(
      db
        .select({ ...getTableColumns(providerEvents), fired: firedRules })
        .from(providerEvents)
        .$dynamic(),
      slice,
    ),
  sort: { created: providerEvents.created },
  search: {},
});

/** A provider's events, each with the rules that it fired. */
export async function listProviderEvents(ctx: Ctx, providerId: string, query: ListQuery): Promise<ListPage<ProviderEventRow>> {
  const page = await listRows(ctx, eventList, query, eq(providerEvents.siteId, ctx.siteId), eq(providerEvents.providerId, providerId));
  // Whether the provider exists only matters if there are no events.
  if (page.totalCount === 0) await requireProvider(ctx, providerId);
  return page;
}

/** Takes an event of the calling provider, as `ingestEventOf` does. */
export async function ingestEvent(
  ctx: Ctx,
  event: Record<string, unknown>,
  externalId: string | undefined,
): Promise<{ eventId: string; isNew: boolean }> {
  return ingestEventOf(ctx, await callingProvider(ctx), event, externalId);
}

/**
 * Stores an event of a provider, then passes it to the site's automation; if that is unreachable, the event's effect delivers it
 * later. An event with an already used id counts once, but is passed on again: the first request may have died before it could, and the
 * provider's next events build on it.
 */
export async function ingestEventOf(
  ctx: Ctx,
  provider: DataProviderRow,
  event: Record<string, unknown>,
  externalId: string | undefined,
): Promise<{ eventId: string; isNew: boolean }> {
  if (provider.disabledReason !== null)
    throw conflict(`The provider is disabled until it registers another schema: ${provider.disabledReason}`);
  const issues = await instanceProblems(provider.schema, event);
  if (issues.length > 0) throw new Failure("invalid_request", "The event doesn't match the provider's schema", { issues });
  const eventId = newId(ctx.now);
  const row = {
    id: eventId,
    siteId: ctx.siteId,
    providerId: provider.id,
    externalId: externalId ?? eventId,
    event,
    created: ctx.now,
  };
  const newEvent: ProviderEventMessage = { id: eventId, providerId: provider.id, at: ctx.now, data: event };
  let eventIds: string[] = [];
  const isNew = await wonRace(async () => {
    eventIds = await commitIfUnchanged(ctx, ctx.db.insert(providerEvents).values(row).onConflictDoNothing(), {
      type: "dataprovider.event",
      resource: `dataprovider/${provider.id}`,
      data: { ...newEvent, externalId: row.externalId },
    });
  });
  const message = isNew ? newEvent : await readStoredEvent(ctx, provider.id, row.externalId);
  try {
    await automationOf(ctx.env, ctx.siteId).handle(message);
    // The event's effect also records facts, where the site has mapped some.
    if (provider.statMapping === null) ctx.emitted.completedEventIds.push(...eventIds);
  } catch (error) {
    logError("automation_late", error, { siteId: ctx.siteId, eventId: message.id });
  }
  return { eventId: message.id, isNew };
}

/** Deletes events and rule firings after a week. */
export async function pruneProviderEvents({ db, now }: Pick<Ctx, "db" | "now">): Promise<void> {
  await db.batch([
    db.delete(providerEvents).where(lt(providerEvents.created, now - RETENTION_MS)),
    db.delete(ruleFirings).where(lt(ruleFirings.created, now - RETENTION_MS)),
  ]);
}

async function readStoredEvent(ctx: Ctx, providerId: string, externalId: string): Promise<ProviderEventMessage> {
  const { id, event, created } = providerEvents;
  const [stored] = await ctx.db
    .select({ id, data: event, at: created })
    .from(providerEvents)
    .where(and(eq(providerEvents.providerId, providerId), eq(providerEvents.externalId, externalId)));
  if (!stored) throw new Error("A previously stored event no longer exists");
  return { ...stored, providerId };
}

async function requireProvider(ctx: Ctx, id: string): Promise<void> {
  const [provider] = await ctx.db
    .select({ id: dataProviders.id })
    .from(dataProviders)
    .where(ownRow(ctx, dataProviders, id));
  if (!provider) throw notFound("Data provider not found");
}
