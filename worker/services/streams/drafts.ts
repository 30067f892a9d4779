import { and, eq, lte } from "drizzle-orm";
import type { BatchItem } from "drizzle-orm/batch";
import { type DraftRow, streamDrafts, type StreamProviderRow, streamProviders } from "#db/schema/streams/streams.ts";
import { callProvider, type ProviderOutcome, type ProviderStream, parseCreatedStream } from "#worker/integrations/stream-provider.ts";
import { Failure, rejectReferenced } from "#worker/lib/errors.ts";
import { logError } from "#worker/lib/log.ts";
import { commitIfUnchanged, type Ctx, type NewEvent } from "#worker/services/core/context.ts";
import { leaveOutCopies, type Shard } from "#worker/services/core/databases.ts";
import { type Reference, referencesExist, withReferences } from "#worker/services/core/references.ts";
import { authorizationOf } from "#worker/services/stream-providers/stream-providers.ts";

const MINUTE = 60_000;
// No request takes longer than this for a draft.
const ABANDONED_AFTER = 2 * MINUTE;
// Give up on a provider that hasn't deleted the stream by then.
const GIVEN_UP_AFTER = 7 * 24 * 60 * MINUTE;
const BATCH_SIZE = 10;

/** A stream being created at a provider. Its row is written before the call, so that no stream is ever left behind there. */
export type Draft = Omit<DraftRow, "due">;
type Cleaner = Pick<Ctx, "env" | "db" | "now">;

/** Creates the stream at the provider; throws the 400 of a failed call, and deletes what the call may have left there. */
export async function createAtProvider(ctx: Ctx, draft: Draft, provider: StreamProviderRow): Promise<ProviderStream> {
  const row: DraftRow = { ...draft, due: draft.created + ABANDONED_AFTER };
  await rejectReferenced("The provider has been removed", () => ctx.db.insert(streamDrafts).values(row));
  const outcome = await callFor(ctx.env, provider, provider.createStream, draft);
  const created = outcome.ok ? parseCreatedStream(ctx.env, outcome.text) : undefined;
  if (created) return created;
  if (!outcome.ok && outcome.status !== undefined) await deleteDraft(ctx, draft);
  else ctx.defer(undo(ctx, row, provider));
  throw providerFailed(
    "Create Stream call to provider failed",
    outcome.ok ? "Its response lacks providerStreamId, ingestUrl, playbackUrl or streamKey" : outcome.reason,
  );
}

/** Replaces the draft with the stream that `insert` writes; if that fails, deletes the provider's stream. */
export async function keepDraft(
  ctx: Ctx,
  draft: Draft,
  provider: StreamProviderRow,
  insert: BatchItem<"sqlite">,
  event: NewEvent,
  references: Reference[],
): Promise<void> {
  const row: DraftRow = { ...draft, due: draft.created + ABANDONED_AFTER };
  try {
    const taken = ctx.db.delete(streamDrafts).where(and(untouched(row), referencesExist(ctx, references)));
    await withReferences(ctx, references, () => commitIfUnchanged(ctx, [taken, insert], event));
  } catch (error) {
    ctx.defer(undo(ctx, row, provider));
    throw error;
  }
}

/** Deletes the streams that crashed requests left at their providers; safe to run twice. */
export async function undoAbandonedDrafts(cleaner: Cleaner & Shard): Promise<void> {
  const due = await cleaner.db
    .select({ draft: streamDrafts, provider: streamProviders })
    .from(streamDrafts)
    .innerJoin(streamProviders, and(eq(streamProviders.siteId, streamDrafts.siteId), eq(streamProviders.name, streamDrafts.provider)))
    .where(lte(streamDrafts.due, cleaner.now))
    .orderBy(streamDrafts.due)
    .limit(BATCH_SIZE);
  const own = await leaveOutCopies(
    cleaner,
    due.map(({ draft, provider }) => ({ siteId: draft.siteId, draft, provider })),
  );
  await Promise.all(own.map(({ draft, provider }) => undo(cleaner, draft, provider)));
}

/** Claims the draft, so that it can't become a stream, and deletes the provider's stream; failures are retried with increasing delays. */
async function undo({ env, db, now }: Cleaner, draft: DraftRow, provider: StreamProviderRow): Promise<void> {
  const due = now + Math.max(MINUTE, now - draft.created);
  const claimed = await db.update(streamDrafts).set({ due }).where(untouched(draft)).returning({ id: streamDrafts.id });
  if (claimed.length === 0) return;
  const outcome = await callFor(env, provider, provider.deleteStream, draft);
  const givenUp = !outcome.ok && now - draft.created > GIVEN_UP_AFTER;
  if (givenUp) logError("stream_left_at_provider", outcome.reason, { streamId: draft.id });
  if (isGone(outcome) || givenUp) await deleteDraft({ db }, draft);
}

/** Whether the stream no longer exists at the provider: 404 and 410 count as deleted. */
export function isGone(outcome: ProviderOutcome): boolean {
  return outcome.ok || outcome.status === 404 || outcome.status === 410;
}

/** The error for a failed provider call, with its reason. */
export function providerFailed(message: string, reason: string): Failure {
  return new Failure("stream_provider_failed", message, { issues: [{ path: "provider", message: reason }] });
}

/** Calls a provider about a stream or a draft. */
export async function callFor(
  env: Env,
  provider: StreamProviderRow,
  url: string,
  { id, title, siteId }: { id: string; title: string; siteId: string },
): Promise<ProviderOutcome> {
  return callProvider(env, { url, authorization: await authorizationOf(env, provider), stream: { streamId: id, title, siteId } });
}

async function deleteDraft({ db }: Pick<Ctx, "db">, { id }: Draft): Promise<void> {
  await db.delete(streamDrafts).where(eq(streamDrafts.id, id));
}

function untouched({ id, due }: DraftRow) {
  return and(eq(streamDrafts.id, id), eq(streamDrafts.due, due));
}
