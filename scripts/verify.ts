// `npm run verify`: checks format, lint, types and all generated files, in seconds and offline.
import { cpSync, existsSync, readdirSync, readFileSync, rmSync } from "node:fs";
import { join } from "node:path";
import { createConfig, lintFromString } from "@redocly/openapi-core";
import { run, runOrFail } from "./lib/command.ts";
import { guard, say, step } from "./lib/report.mjs";
import { ROOT } from "./lib/root.mjs";

/** Resolves to a description of the problem, or to undefined. */
type Check = () => Promise<string | undefined>;

const CACHE = "node_modules/.cache/verify";
const MIGRATIONS = "db/migrations";
const REGENERATED = ".wrangler/verify/migrations";

// The types of all projects together need more than Node.js allows by default.
const MORE_MEMORY = ["--max-old-space-size=8192"];
const ESLINT = "node_modules/eslint/bin/eslint.js";

const CHECKS: Record<string, Check> = {
  "format (npm run format)": command("prettier", "--check", ".", "--log-level", "warn", "--cache", "--cache-location", `${CACHE}/prettier`),
  lint: command(
    "node",
    ...MORE_MEMORY,
    ESLINT,
    ".",
    "--max-warnings",
    "0",
    "--cache",
    "--cache-strategy",
    "content",
    "--cache-location",
    `${CACHE}/eslint`,
  ),
  "types of the Worker": command("tsc", "-p", ".", "--incremental", "--tsBuildInfoFile", `${CACHE}/worker.tsbuildinfo`),
  "types of the SDK": command("tsc", "-p", "sdk", "--incremental", "--tsBuildInfoFile", `${CACHE}/sdk.tsbuildinfo`),
  "types of the command line": command("tsc", "-p", "cli", "--incremental", "--tsBuildInfoFile", `${CACHE}/cli.tsbuildinfo`),
  "types of Studio": command("tsc", "-p", "studio", "--incremental", "--tsBuildInfoFile", `${CACHE}/studio.tsbuildinfo`),
  "types of the scripts": command("tsc", "-p", "scripts", "--incremental", "--tsBuildInfoFile", `${CACHE}/scripts.tsbuildinfo`),
  "types of the docs": command("astro", "check", "--tsconfig", "docs/tsconfig.json", "--minimumSeverity", "warning"),
  "bindings (npm run types)": command("wrangler", "types", "worker-configuration.d.ts", "--strict-vars=false", "--check"),
  "migrations (npm run db:generate)": migrationsAreComplete,
  "OpenAPI document": documentIsClean,
  "lock file": lockNamesNoHost,
};

await guard(async () => {
  // The SDK's types are generated from the API's documents, which are generated from the Worker.
  await step("Generating the types of the SDK", async () => {
    await runOrFail("node", ["scripts/emit-openapi.ts"]);
    await runOrFail("node", ["scripts/emit-sdk-types.ts"]);
  });
  // Lint needs the types that Astro generates, which a fresh clone doesn't have yet.
  if (!existsSync(join(ROOT, ".astro/types.d.ts"))) await step("Generating the types of the docs", () => runOrFail("astro", ["sync"]));
  const results = await Promise.all(Object.entries(CHECKS).map(([name, check]) => report(name, check)));
  if (results.includes(false)) process.exitCode = 1;
});
if (process.connected) process.disconnect();

async function report(name: string, check: Check): Promise<boolean> {
  const started = Date.now();
  const problem = await check().catch((error: unknown) => (error instanceof Error ? (error.stack ?? error.message) : String(error)));
  const took = `${((Date.now() - started) / 1000).toFixed(1)} s`;
  say(problem === undefined ? `ok    ${name} (${took})` : `FAIL  ${name} (${took})\n${problem.trim()}\n`);
  return problem === undefined;
}

/** A check that passes if a command exits with 0. */
function command(name: string, ...args: string[]): Check {
  return async () => {
    const { code, output } = await run(name, args);
    return code === 0 ? undefined : output;
  };
}

/** Generates migrations in a copy of the folder. A new one means that the schema is ahead of the migrations. */
async function migrationsAreComplete(): Promise<string | undefined> {
  const copy = join(ROOT, REGENERATED);
  rmSync(copy, { recursive: true, force: true });
  cpSync(join(ROOT, MIGRATIONS), copy, { recursive: true });
  const { code, output } = await run("drizzle-kit", [
    "generate",
    "--dialect=sqlite",
    "--schema=./db/schema/**/*.ts",
    `--out=./${REGENERATED}`,
  ]);
  if (code !== 0) return output;
  const known = new Set(readdirSync(join(ROOT, MIGRATIONS)));
  const missing = readdirSync(copy).find((file) => !known.has(file));
  return missing === undefined ? undefined : `The schema needs another migration:\n${readFileSync(join(copy, missing), "utf8")}`;
}

/** Lints the current OpenAPI document with Redocly's recommended rules. Warnings are only printed. */
async function documentIsClean(): Promise<string | undefined> {
  const { Api } = await import("#worker/app.ts");
  const { openApiText } = await import("#worker/http/openapi.ts");
  const { TAGS } = await import("#worker/routes/areas.ts");
  const source = openApiText(await new Api().whole(), TAGS);
  const problems = await lintFromString({ source, config: await createConfig({ extends: ["recommended"] }) });
  const lines = problems.map(
    ({ severity, ruleId, message, location }) => `${severity} ${ruleId}: ${message} (${location[0]?.pointer ?? "#"})`,
  );
  if (problems.some(({ severity }) => severity === "error")) return lines.join("\n");
  for (const line of lines) say(line);
  return undefined;
}

/** A lock file that names a registry's host works only with that registry. */
async function lockNamesNoHost(): Promise<string | undefined> {
  const lock = readFileSync(join(ROOT, "package-lock.json"), "utf8");
  return /"resolved": "https?:/.test(lock) ? "package-lock.json names a registry's host; see .npmrc and regenerate it." : undefined;
}
