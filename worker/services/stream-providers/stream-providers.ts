import { eq } from "drizzle-orm";
import { type StreamProviderRow, streamProviders } from "#db/schema/streams/streams.ts";
import { publicUrlProblem } from "#worker/integrations/public-host.ts";
import { lookUpHashes, open, seal } from "#worker/lib/crypto/crypto.ts";
import { Failure, type Issue, notFound, rejectDuplicate, rejectReferenced } from "#worker/lib/errors.ts";
import { CALL_URLS, type StreamProviderInput, toStreamProvider } from "./schemas.ts";
import {
  commit,
  commitIfUnchanged,
  type Ctx,
  deleteRow,
  newRow,
  nextVersion,
  ownRow,
  requireMatch,
  updateRow,
} from "#worker/services/core/context.ts";
import { type ListPage, type ListQuery, listRows, sliceOf, tableList } from "#worker/services/core/listing.ts";

/** The purpose under which authorizations are sealed and looked up. */
export const PROVIDER_PURPOSE = "stream provider";

const providerList = tableList<StreamProviderRow>({
  table: streamProviders,
  rows: (db, slice) => sliceOf(db.select().from(streamProviders).$dynamic(), slice),
  sort: { created: streamProviders.created, name: streamProviders.name },
  search: { name: streamProviders.name },
});

export function listStreamProviders(ctx: Ctx, query: ListQuery): Promise<ListPage<StreamProviderRow>> {
  return listRows(ctx, providerList, query, eq(streamProviders.siteId, ctx.siteId));
}

/** The `message` of a rejected registration; its issues name the fields. */
export const ASSERTION_ERROR = "Assertion Error";

function assertionError(issues: Issue[]): Failure {
  return new Failure("invalid_request", ASSERTION_ERROR, { issues });
}

/** Registers a new provider for a developer key, returning its authorization only once, or updates the calling provider. */
export async function registerStreamProvider(ctx: Ctx, input: StreamProviderInput): Promise<{ id: string; authorization?: string }> {
  const actor = await ctx.caller();
  const checked = await Promise.all(CALL_URLS.map(async (path) => ({ path, message: await publicUrlProblem(ctx.env, input[path]) })));
  const issues = checked.flatMap(({ path, message }) => (message === undefined ? [] : [{ path, message }]));
  if (issues.length > 0) throw assertionError(issues);
  return actor.kind === "provider" ? changeProvider({ ...ctx, siteId: actor.siteId }, actor.id, input) : addProvider(ctx, input);
}

async function addProvider(ctx: Ctx, input: StreamProviderInput): Promise<{ id: string; authorization: string }> {
  const authorization = crypto.randomUUID();
  const row: StreamProviderRow = { ...newRow(ctx), ...input, ...(await sealAuthorization(ctx.env, authorization)) };
  await rejectDuplicate(
    "stream_providers.site_id, stream_providers.name",
    "A provider with this name is already registered; change it with its own authorization",
    () =>
      commit(ctx, ctx.db.insert(streamProviders).values(row), {
        type: "stream.providerRegistered",
        resource: resourceOf(row),
        data: toStreamProvider(row),
      }),
  );
  return { id: row.id, authorization };
}

async function changeProvider(ctx: Ctx, id: string, input: StreamProviderInput): Promise<{ id: string }> {
  const current = await getProvider(ctx, id);
  if (input.name !== current.name)
    throw assertionError([{ path: "name", message: `Must stay ${current.name}, because streams reference it` }]);
  const next: StreamProviderRow = { ...current, ...input, ...nextVersion(ctx, current) };
  const change = updateRow(ctx, streamProviders, current, next);
  await commitIfUnchanged(ctx, change, { type: "stream.providerChanged", resource: resourceOf(next), data: toStreamProvider(next) });
  return { id };
}

/** Removes a provider; the database rejects this while a stream or a draft references it. */
export async function removeStreamProvider(ctx: Ctx, id: string): Promise<StreamProviderRow> {
  const current = await getProvider(ctx, id);
  requireMatch(ctx, current);
  const change = deleteRow(ctx, streamProviders, current);
  await rejectReferenced("Streams still use this provider", () =>
    commitIfUnchanged(ctx, change, { type: "stream.providerRemoved", resource: resourceOf(current), data: toStreamProvider(current) }),
  );
  return current;
}

/** An authorization in its stored form. */
export async function sealAuthorization(env: { TIFO_SECRET: string }, authorization: string) {
  const [authorizationHash] = await lookUpHashes(env, PROVIDER_PURPOSE, authorization);
  return { authorizationSealed: await seal(env, PROVIDER_PURPOSE, authorization), authorizationHash };
}

/** The bearer token of calls to a provider. */
export function authorizationOf(env: Env, provider: StreamProviderRow): Promise<string> {
  return open(env, PROVIDER_PURPOSE, provider.authorizationSealed);
}

async function getProvider(ctx: Ctx, id: string): Promise<StreamProviderRow> {
  const [row] = await ctx.db
    .select()
    .from(streamProviders)
    .where(ownRow(ctx, streamProviders, id));
  if (!row) throw notFound("Stream provider not found");
  return row;
}

function resourceOf(row: StreamProviderRow): string {
  return `streamprovider/${row.id}`;
}
