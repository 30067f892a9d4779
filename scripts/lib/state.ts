import { randomBytes } from "node:crypto";
import { existsSync, readFileSync, writeFileSync } from "node:fs";
import { mkdir } from "node:fs/promises";
import { join } from "node:path";
import { runOrFail } from "./command.ts";
import { unlessFresh } from "./fresh.ts";
import { step } from "./report.mjs";

export interface Secrets {
  TIFO_SECRET: string;
  TIFO_SUPER_KEY: string;
}

/** The `Tifo-Super-Key` of the demo's operator. */
export const DEMO_SUPER_KEY = "tifo_super_demo";

/**
 * Prepares a folder with everything that a local server needs: secrets, a migrated database and the demo sites.
 * Existing data is kept.
 */
export async function prepareState(folder: string): Promise<Secrets> {
  await mkdir(folder, { recursive: true });
  const secrets = { TIFO_SECRET: ownSecret(folder), TIFO_SUPER_KEY: DEMO_SUPER_KEY };
  const database = join(folder, "v3/d1");
  await unlessFresh({
    stamp: join(folder, "migrated"),
    inputs: ["db/migrations/**", "wrangler.toml"],
    output: database,
    work: () => step("Migrating the database", () => migrateState(folder, secrets)),
  });
  await unlessFresh({
    stamp: join(folder, "demo-loaded"),
    inputs: ["db/migrations/**", "db/demo.ts", "db/demo/**"],
    output: database,
    work: () => step("Loading the demo sites", () => loadDemoSites(folder, secrets)),
  });
  return secrets;
}

/** The folder's secret, created on first use, so that tokens stay valid when the server restarts. */
function ownSecret(folder: string): string {
  const file = join(folder, "secret");
  if (!existsSync(file)) writeFileSync(file, randomBytes(32).toString("hex"), { mode: 0o600 });
  return readFileSync(file, "utf8");
}

/** Applies the migrations that a folder's databases don't have yet. */
export async function migrateState(folder: string, secrets: Secrets): Promise<void> {
  await runOrFail("node", ["scripts/migrate.ts", folder], { env: { ...secrets } });
}

async function loadDemoSites(folder: string, secrets: Secrets): Promise<void> {
  await runOrFail("node", ["scripts/load-demo.ts", folder], { env: { ...secrets } });
}
