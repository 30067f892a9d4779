import { and, eq } from "drizzle-orm";
import { graphics } from "#db/schema/graphics.ts";
import type { GraphicSnapshot } from "#db/graphic-types.ts";
import type { OverlayContents } from "#db/types.ts";
import { Failure, type Issue } from "#worker/lib/errors.ts";
import type { StepBudget } from "#worker/lib/json-schema/steps.ts";
import { type Ctx, ownRows } from "#worker/services/core/context.ts";
import { dataProblems, newBudget } from "./data-schema.ts";
import { type GraphicElement, propertyOf } from "./elements.ts";
import { Manifest, widthOf } from "./manifest.ts";
import { GRAPHIC_SCHEMA } from "./schemas.ts";

/**
 * The elements with what a broadcast needs to know of their graphics, so that it needs no query for it: graphics never change. Throws a
 * 400 that names the values that don't fit. A graphic that doesn't exist is left to the check of references.
 */
export async function withSnapshots(ctx: Ctx, contents: OverlayContents): Promise<OverlayContents> {
  const elements = contents.filter((content) => content.kind === "ograf");
  if (elements.length === 0) return contents;
  const ids = [...new Set(elements.map(({ graphic }) => graphic))];
  const rows = await ctx.db
    .select({ id: graphics.id, manifest: graphics.manifest })
    .from(graphics)
    .where(and(ownRows(ctx, graphics, ids), eq(graphics.ready, true)));
  const snapshots = new Map(rows.map(({ id, manifest }) => [id, snapshotOf(Manifest.parse(manifest))]));
  const issues: Issue[] = [];
  const budget = newBudget();
  const next = await Promise.all(
    contents.map(async (content, index) => {
      if (content.kind !== "ograf") return content;
      const snapshot = snapshots.get(content.graphic);
      const found = snapshot ? await ownIssues(content, snapshot, budget) : [];
      issues.push(...found.map(({ path, message }) => ({ path: `contents.${index}.variables${path === "" ? "" : `.${path}`}`, message })));
      return { ...content, snapshot };
    }),
  );
  const [first] = issues;
  if (first) throw new Failure("invalid_request", first.message, { issues });
  return next;
}

export function snapshotOf(manifest: Manifest): GraphicSnapshot {
  const actions = (manifest.customActions ?? []).map(({ id, schema }) => [id, schema ?? null] as const);
  return { schema: manifest.schema ?? GRAPHIC_SCHEMA, width: widthOf(manifest), actions: Object.fromEntries(actions) };
}

/** A template's values may be incomplete: its broadcasts have the rest. */
async function ownIssues({ variables = {} }: GraphicElement, { schema }: GraphicSnapshot, budget: StepBudget): Promise<Issue[]> {
  const unknown = Object.keys(variables).filter((name) => !propertyOf(schema, name));
  if (unknown.length > 0) return unknown.map((path) => ({ path, message: "The graphic has no property of this name" }));
  return dataProblems({ ...schema, required: [] }, variables, budget);
}
