import { execFileSync } from "node:child_process";
import { defineRouteMiddleware } from "@astrojs/starlight/route-data";

/** What the generated pages below a path are made from. */
const SOURCES: Record<string, string[]> = {
  "/docs/api-reference": ["worker/routes", "worker/services"],
  "/api/rest": ["worker/routes", "worker/services"],
  "/errors": ["worker/lib/errors.ts", "docs/src/components/operation/error-help.ts"],
  "/quality": ["bench/RESULTS.md"],
};
const BUILT = new Date();
const dates = new Map<string, Date>();

/**
 * Gives every page the time of its last update: of the commit that changed its source last, which Starlight finds for pages of
 * the content folder; without a git history, of the build.
 */
export const onRequest = defineRouteMiddleware(({ locals, url }) => {
  locals.starlightRoute.lastUpdated ??= dateOf(url.pathname);
});

function dateOf(path: string): Date {
  const source = Object.keys(SOURCES).find((base) => `${path}/`.startsWith(`${base}/`)) ?? "";
  const known = dates.get(source) ?? lastCommit(SOURCES[source] ?? []) ?? BUILT;
  dates.set(source, known);
  return known;
}

function lastCommit(files: readonly string[]): Date | undefined {
  if (files.length === 0) return undefined;
  try {
    const stamp = execFileSync("git", ["log", "-1", "--format=%cI", "--", ...files], {
      encoding: "utf8",
      stdio: ["ignore", "pipe", "ignore"],
    });
    return stamp.trim() === "" ? undefined : new Date(stamp.trim());
  } catch {
    // The site is built outside a repository, or without git.
    return undefined;
  }
}
