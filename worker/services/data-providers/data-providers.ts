import { desc, eq, lt } from "drizzle-orm";
import { type DataProviderRow, dataProviders } from "#db/schema/data-providers.ts";
import { randomToken } from "#worker/lib/crypto/crypto.ts";
import { wonRace, Failure, forbidden, notFound } from "#worker/lib/errors.ts";
import { factsOf, schemaProblems } from "#worker/lib/json-schema/json-schema.ts";
import { type DataProviderInput, toAvailable } from "./schemas.ts";
import { OVERLAP } from "#worker/services/sites/api-keys.ts";
import { refreshRules } from "#worker/services/automation-rules/automation.ts";
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
import { leaveOutCopies, type Shard } from "#worker/services/core/databases.ts";
import { sealSecret } from "./provider-signatures.ts";
import { asSystem } from "#worker/services/core/system.ts";

/** Increment this when `schemaProblems` rejects more than before, so that stored schemas are checked again. */
const SCHEMA_CHECKS = 1;
const SCHEMAS_PER_SWEEP = 20;

/** The site's providers, newest first; a 404 if it has none, as integrators expect. */
export async function listAvailableProviders(ctx: Ctx): Promise<DataProviderRow[]> {
  const rows = await ctx.db
    .select()
    .from(dataProviders)
    .where(eq(dataProviders.siteId, ctx.siteId))
    .orderBy(desc(dataProviders.created), desc(dataProviders.id))
    .limit(500);
  if (rows.length === 0) throw notFound("The site has no data providers");
  return rows;
}

/** Registers a provider; its secret is returned only here. */
export async function registerDataProvider(ctx: Ctx, input: DataProviderInput): Promise<{ row: DataProviderRow; secret: string }> {
  requireSchema(input);
  const secret = newSecret();
  const row: DataProviderRow = {
    ...newRow(ctx),
    ...columnsOf(input),
    secretSealed: await sealSecret(ctx.env, secret),
    previousSecretSealed: null,
    statMapping: null,
    previousExpires: null,
  };
  await commit(ctx, ctx.db.insert(dataProviders).values(row), changeEvent(row, "Registered"));
  await refreshRules(ctx);
  return { row, secret };
}

/** Replaces the calling provider's registration; its rules continue with the new schema's facts. */
export async function updateDataProvider(ctx: Ctx, input: DataProviderInput): Promise<DataProviderRow> {
  const current = await callingProvider(ctx);
  requireSchema(input);
  const next: DataProviderRow = { ...current, ...columnsOf(input), ...nextVersion(ctx, current) };
  const change = updateRow(ctx, dataProviders, current, next);
  await commitIfUnchanged(ctx, change, changeEvent(next, "Updated"));
  await refreshRules(ctx);
  return next;
}

/** Deletes the calling provider. Its rules stay but never fire; its events stay until they expire. */
export async function deleteDataProvider(ctx: Ctx): Promise<void> {
  const current = await callingProvider(ctx);
  requireMatch(ctx, current);
  const change = deleteRow(ctx, dataProviders, current);
  await commitIfUnchanged(ctx, change, changeEvent(current, "Deleted"));
  await refreshRules(ctx);
}

/** Gives a provider a new secret; only the previous one still works, for the overlap period. */
export async function rotateProviderSecret(ctx: Ctx, id: string): Promise<{ secret: string; previousExpires: number }> {
  const current = await getDataProvider(ctx, id);
  const secret = newSecret();
  const previousExpires = ctx.now + OVERLAP;
  const next: DataProviderRow = {
    ...current,
    secretSealed: await sealSecret(ctx.env, secret),
    previousSecretSealed: current.secretSealed,
    previousExpires,
    ...nextVersion(ctx, current),
  };
  const change = updateRow(ctx, dataProviders, current, next);
  await commitIfUnchanged(ctx, change, changeEvent(next, "SecretRotated"));
  return { secret, previousExpires };
}

export async function getDataProvider(ctx: Ctx, id: string): Promise<DataProviderRow> {
  const [row] = await ctx.db
    .select()
    .from(dataProviders)
    .where(ownRow(ctx, dataProviders, id));
  if (!row) throw notFound("Data provider not found");
  return row;
}

/** The provider that signed the request. */
export async function callingProvider(ctx: Ctx): Promise<DataProviderRow> {
  const actor = await ctx.caller();
  if (actor.kind !== "dataProvider") throw forbidden("Only the data provider itself can do this");
  // On a retry, the row that was read with the signature is stale.
  if (ctx.attempt !== undefined) return getDataProvider(ctx, actor.id);
  return actor.provider;
}

/**
 * Rechecks schemas that were stored before the checks changed, and disables providers whose schema fails; returns false once none are
 * left. Safe to run concurrently.
 */
export async function recheckSchemas({ env, db, shard, now }: Shard & Pick<Ctx, "now">): Promise<boolean> {
  const unchecked = await db.select().from(dataProviders).where(lt(dataProviders.schemaChecks, SCHEMA_CHECKS)).limit(SCHEMAS_PER_SWEEP);
  for (const row of await leaveOutCopies({ env, db, shard }, unchecked)) {
    await asSystem({ env, db, now }, row.siteId, async (ctx) => {
      const [problem] = schemaProblems(row.schema);
      const checked = { ...row, schemaChecks: SCHEMA_CHECKS };
      const mark = (next: Partial<DataProviderRow>) => updateRow(ctx, dataProviders, row, next);
      if (!problem) return void (await commit(ctx, mark(checked)));
      const next = { ...checked, disabledReason: `schema.${problem.path}: ${problem.message}`, ...nextVersion(ctx, row) };
      // A concurrent update has registered a schema that is already checked.
      await wonRace(() => commitIfUnchanged(ctx, mark(next), changeEvent(next, "Disabled")));
    });
  }
  return unchecked.length === SCHEMAS_PER_SWEEP;
}

function requireSchema({ schema }: DataProviderInput): void {
  const issues = schemaProblems(schema).map(({ path, message }) => ({ path: `schema.${path}`, message }));
  if (issues.length > 0) throw new Failure("invalid_request", "Events can't be validated against this schema", { issues });
}

function columnsOf(input: DataProviderInput) {
  return { ...input, facts: factsOf(input.schema), schemaChecks: SCHEMA_CHECKS, disabledReason: null };
}

function newSecret(): string {
  return `tifo_dp_${randomToken(32)}`;
}

function changeEvent(row: DataProviderRow, change: "Registered" | "Updated" | "Deleted" | "SecretRotated" | "Disabled") {
  return { type: `dataprovider.provider${change}` as const, resource: `dataprovider/${row.id}`, data: toAvailable(row) };
}
