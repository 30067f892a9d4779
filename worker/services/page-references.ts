import { and, eq, inArray, type SQL, sql } from "drizzle-orm";
import type { BatchItem } from "drizzle-orm/batch";
import { navigations, sites, themes } from "../../db/schema/index.ts";
import { Failure, type Issue } from "../lib/errors.ts";
import { type Ctx, ownRow } from "./context.ts";

/** What a page or a template refers to; its paths are those of the body. */
export type References = Record<string, { kind: "theme" | "navigation"; id: string | null | undefined }>;

/** What the data of a page refers to. */
export function referencesOf(data: { theme?: string | undefined; navigation?: string | undefined }): References {
  return { "data.theme": { kind: "theme", id: data.theme }, "data.navigation": { kind: "navigation", id: data.navigation } };
}

/** A 400 that names every reference to a theme or navigation that the site can't use. */
export async function requireReferences(ctx: Ctx, references: References): Promise<void> {
  const [first, ...rest] = named(references);
  if (!first) return;
  const found = await ctx.db.batch([selectOf(ctx, first), ...rest.map((reference) => selectOf(ctx, reference))]);
  const issues: Issue[] = [first, ...rest]
    .filter((_, index) => found[index]?.length === 0)
    .map(({ path, kind }) => ({ path, message: `The site has no ${kind} of this id` }));
  if (issues.length > 0) throw new Failure("invalid_request", "It names what the site doesn't have", { issues });
}

/** Whether all are still there, for the condition of a change; undefined where nothing is referred to. */
export function stillThere(ctx: Ctx, references: References): SQL | undefined {
  return and(...named(references).map((reference) => sql`exists ${selectOf(ctx, reference)}`));
}

/** A change of nothing, which touches its row only while all are there: to go first in a `commitIfCurrent` that inserts what refers to them. */
export function whileThere(ctx: Ctx, references: References): BatchItem<"sqlite">[] {
  const condition = stillThere(ctx, references);
  if (!condition) return [];
  return [
    ctx.db
      .update(sites)
      .set({ version: sql`${sites.version}` })
      .where(and(eq(sites.id, ctx.siteId), condition)),
  ];
}

/** Runs a change under the condition of `stillThere`; what has gone meanwhile is told as if it had never been there. */
export async function withReferences<T>(ctx: Ctx, references: References, write: () => Promise<T>): Promise<T> {
  try {
    return await write();
  } catch (error) {
    if (error instanceof Failure && error.code === "conflict") await requireReferences(ctx, references);
    throw error;
  }
}

function named(references: References) {
  return Object.entries(references).flatMap(([path, { kind, id }]) => (id ? [{ path, kind, id }] : []));
}

// The operator's themes, whose siteId is empty, are every site's.
function selectOf(ctx: Ctx, { kind, id }: { kind: "theme" | "navigation"; id: string }) {
  return kind === "theme"
    ? ctx.db
        .select({ id: themes.id })
        .from(themes)
        .where(and(eq(themes.id, id), inArray(themes.siteId, [ctx.siteId, ""])))
    : ctx.db
        .select({ id: navigations.id })
        .from(navigations)
        .where(ownRow(ctx, navigations, id));
}
