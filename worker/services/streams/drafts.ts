import { and, eq, lte } from "drizzle-orm";
import type { BatchItem } from "drizzle-orm/batch";
import { type DraftRow, streamDrafts, type StreamProviderRow, streamProviders } from "#db/schema/index.ts";
import { callProvider, type ProviderOutcome, type ProviderStream, parseCreatedStream } from "#worker/integrations/stream-provider.ts";
import { Failure, refuseReferenced } from "#worker/lib/errors.ts";
import { commitIfUnchanged, type Ctx, type NewEvent } from "#worker/services/core/context.ts";
import { authorizationOf } from "#worker/services/stream-providers/stream-providers.ts";

const MINUTE = 60_000;
// No request works on a draft for longer than this.
const ABANDONED_AFTER = 2 * MINUTE;
// A provider that has not deleted it by then won't.
const GIVEN_UP_AFTER = 7 * 24 * 60 * MINUTE;
const AT_ONCE = 10;

/** A stream that a provider is asked for: there is a row of it before the call, so that none is ever forgotten there. */
export type Draft = Omit<DraftRow, "due">;
type Cleaner = Pick<Ctx, "env" | "db" | "now">;

/** Has the provider make the stream; throws the 400 of a failed call, after which what may be left there is deleted. */
export async function makeAtProvider(ctx: Ctx, draft: Draft, provider: StreamProviderRow): Promise<ProviderStream> {
  const row: DraftRow = { ...draft, due: draft.created + ABANDONED_AFTER };
  await refuseReferenced("The provider has been removed", () => ctx.db.insert(streamDrafts).values(row));
  const outcome = await callFor(ctx.env, provider, provider.createStream, draft);
  const made = outcome.ok ? parseCreatedStream(ctx.env, outcome.text) : undefined;
  if (made) return made;
  if (!outcome.ok && outcome.status !== undefined) await forget(ctx, draft);
  else ctx.defer(undo(ctx, row, provider));
  throw providerFailed(
    "Create Stream call to provider failed",
    outcome.ok ? "It did not answer with providerStreamId, ingestUrl, playbackUrl and streamKey" : outcome.reason,
  );
}

/** Turns the draft into the stream that `insert` writes; if that fails, the provider's is deleted. */
export async function keepDraft(
  ctx: Ctx,
  draft: Draft,
  provider: StreamProviderRow,
  insert: BatchItem<"sqlite">,
  event: NewEvent,
): Promise<void> {
  const row: DraftRow = { ...draft, due: draft.created + ABANDONED_AFTER };
  try {
    await commitIfUnchanged(ctx, [ctx.db.delete(streamDrafts).where(untouched(row)), insert], event);
  } catch (error) {
    ctx.defer(undo(ctx, row, provider));
    throw error;
  }
}

/** Deletes at their providers what requests that died have left there; safe to run twice. */
export async function undoAbandonedDrafts(cleaner: Cleaner): Promise<void> {
  const due = await cleaner.db
    .select({ draft: streamDrafts, provider: streamProviders })
    .from(streamDrafts)
    .innerJoin(streamProviders, and(eq(streamProviders.siteId, streamDrafts.siteId), eq(streamProviders.name, streamDrafts.provider)))
    .where(lte(streamDrafts.due, cleaner.now))
    .orderBy(streamDrafts.due)
    .limit(AT_ONCE);
  await Promise.all(due.map(({ draft, provider }) => undo(cleaner, draft, provider)));
}

/** Takes the draft, so that nobody else makes a stream of it, and deletes what it stands for; without success it is tried again, ever more rarely. */
async function undo({ env, db, now }: Cleaner, draft: DraftRow, provider: StreamProviderRow): Promise<void> {
  const due = now + Math.max(MINUTE, now - draft.created);
  const taken = await db.update(streamDrafts).set({ due }).where(untouched(draft)).returning({ id: streamDrafts.id });
  if (taken.length === 0) return;
  const outcome = await callFor(env, provider, provider.deleteStream, draft);
  const givenUp = !outcome.ok && now - draft.created > GIVEN_UP_AFTER;
  if (givenUp)
    console.error(JSON.stringify({ level: "error", event: "stream_left_at_provider", streamId: draft.id, message: outcome.reason }));
  if (isGone(outcome) || givenUp) await forget({ db }, draft);
}

/** Whether a delete has left nothing: 404 and 410 say that there was nothing. */
export function isGone(outcome: ProviderOutcome): boolean {
  return outcome.ok || outcome.status === 404 || outcome.status === 410;
}

/** The refusal of whoever asked for a call that failed, and what was wrong with it. */
export function providerFailed(message: string, reason: string): Failure {
  return new Failure("stream_provider_failed", message, { issues: [{ path: "provider", message: reason }] });
}

/** One call to a provider about a stream, or one in the making. */
export async function callFor(
  env: Env,
  provider: StreamProviderRow,
  url: string,
  { id, title, siteId }: { id: string; title: string; siteId: string },
): Promise<ProviderOutcome> {
  return callProvider(env, { url, authorization: await authorizationOf(env, provider), stream: { streamId: id, title, siteId } });
}

async function forget({ db }: Pick<Ctx, "db">, { id }: Draft): Promise<void> {
  await db.delete(streamDrafts).where(eq(streamDrafts.id, id));
}

function untouched({ id, due }: DraftRow) {
  return and(eq(streamDrafts.id, id), eq(streamDrafts.due, due));
}
