import { randomBytes } from "node:crypto";
import { mkdirSync, readdirSync, readFileSync, rmSync, writeFileSync } from "node:fs";
import { dirname, join } from "node:path";
import { z } from "@hono/zod-openapi";
import { run, runOrFail } from "./command.ts";
import { contractingStatements } from "./contracting-migrations.ts";
import { type Database, databasesIn, readConfig, withDatabaseIds } from "./databases.ts";
import { Problem, say, step } from "./report.mjs";
import { ROOT } from "./root.mjs";
import { createSetupLink } from "./setup-link.ts";
import { variableProblems } from "./variables.ts";

const BUCKET = "tifo-media";
const QUEUES = ["tifo-jobs", "tifo-jobs-dead"];
// In the folder of wrangler.toml, because its paths are relative; deleted when the command ends.
const CONFIG = "wrangler.deploy.toml";
const SECRETS = ".wrangler/secrets.json";

const Databases = z.array(z.object({ uuid: z.string(), name: z.string() }));
const SecretNames = z.array(z.object({ name: z.string() }));

interface Options {
  /** Whether migrations may break the running release. */
  contract: boolean;
  /** The folder of the migrations. */
  migrations?: string;
  /** The text of wrangler.toml. */
  config?: string;
  send?: typeof fetch;
}

/** Deploys what was built, and creates the account's resources that are missing. */
export async function deployProject(options: Options): Promise<void> {
  const { contract, migrations = join(ROOT, "db/migrations"), config = readConfig(), send = fetch } = options;
  const problems = variableProblems(config);
  if (problems.length > 0) throw new Problem(`wrangler.toml: ${problems.join("\n")}`);
  await requireLogin();
  const databases = databasesIn(config);
  const ids = await step("Looking for the databases", () => findOrCreateDatabases(databases));
  await step("Looking for the bucket", ensureBucket);
  await step("Looking for the queues", ensureQueues);
  try {
    writeFileSync(join(ROOT, CONFIG), withDatabaseIds(config, ids));
    // All of them before any is migrated.
    if (!contract)
      await step("Checking the migrations", async () => {
        for (const { binding } of databases) await refuseContracting(binding, migrations);
      });
    await step("Migrating the databases", async () => {
      for (const { binding } of databases)
        await runOrFail("wrangler", ["d1", "migrations", "apply", binding, "--remote", "--config", CONFIG]);
    });
    const secrets = await missingSecrets();
    const url = await step("Deploying", () => deploy(secrets));
    const superKey = secrets.TIFO_SUPER_KEY;
    // Only the deployment that sets the super key knows it; the others leave the sites as they are.
    const link =
      superKey === undefined ? undefined : await step("Creating the first admin's link", () => createSetupLink(url, superKey, { send }));
    printSummary(url, superKey, link);
  } finally {
    rmSync(join(ROOT, CONFIG), { force: true });
    rmSync(join(ROOT, SECRETS), { force: true });
  }
}

async function requireLogin(): Promise<void> {
  const { code } = await run("wrangler", ["whoami", "--json"]);
  if (code !== 0) throw new Problem("Sign in first: `npx wrangler login`, or set CLOUDFLARE_API_TOKEN.");
}

/** The ids of the account's databases by binding. The first deployment with a database creates it. */
async function findOrCreateDatabases(databases: Database[]): Promise<Map<string, string>> {
  const ids = new Map<string, string>();
  for (const { binding, name } of databases) ids.set(binding, await findOrCreateDatabase(name));
  return ids;
}

async function findOrCreateDatabase(name: string): Promise<string> {
  const existing = await findDatabase(name);
  if (existing !== undefined) return existing;
  await runOrFail("wrangler", ["d1", "create", name]);
  const created = await findDatabase(name);
  if (created === undefined) throw new Problem(`The database "${name}" was created, but the account doesn't list it yet: try again.`);
  return created;
}

async function findDatabase(wanted: string): Promise<string | undefined> {
  const databases = Databases.parse(JSON.parse(await runOrFail("wrangler", ["d1", "list", "--json"])));
  return databases.find(({ name }) => name === wanted)?.uuid;
}

/** The running release uses the database until the new one is deployed: what it still needs can't be removed before. */
async function refuseContracting(binding: string, folder: string): Promise<void> {
  const { output } = await run("wrangler", ["d1", "migrations", "list", binding, "--remote", "--config", CONFIG]);
  const pending = readdirSync(folder).filter((file) => file.endsWith(".sql") && output.includes(file));
  // A database without tables has no running release.
  if (pending.length === readdirSync(folder).filter((file) => file.endsWith(".sql")).length) return;
  const problems = pending.flatMap((file) =>
    contractingStatements(readFileSync(join(folder, file), "utf8")).map(
      ({ statement, what }) => `  ${file} ${what}: ${statement.slice(0, 120)}`,
    ),
  );
  if (problems.length === 0) return;
  throw new Problem(
    `These migrations break the release that is running:\n${problems.join("\n")}\n` +
      "Deploy a release first that no longer uses what they remove. Then add the line `-- contracts: <since when it is unused>` to the migration, or use `npm run deploy -- --contract`.",
  );
}

/** Creates the account's bucket for uploaded files if it doesn't exist. */
async function ensureBucket(): Promise<void> {
  const { code, output } = await run("wrangler", ["r2", "bucket", "create", BUCKET]);
  if (code !== 0 && !/10004|already exists/i.test(output)) {
    throw new Problem(`The bucket "${BUCKET}" can't be created; is R2 enabled for the account?\n${output.trim()}`);
  }
}

/** Creates the account's queues for bulk work, and for messages that failed, if they don't exist. */
async function ensureQueues(): Promise<void> {
  for (const queue of QUEUES) {
    const { code, output } = await run("wrangler", ["queues", "create", queue]);
    if (code !== 0 && !/11009|already (exists|taken)/i.test(output)) {
      throw new Problem(`The queue "${queue}" can't be created; does the account's plan have Queues?\n${output.trim()}`);
    }
  }
}

/** New values for the secrets that the deployed Worker doesn't have; existing values are never changed. */
async function missingSecrets(): Promise<Record<string, string>> {
  const { code, output, stdout } = await run("wrangler", ["secret", "list", "--format", "json", "--config", CONFIG]);
  // Before the first deployment the Worker doesn't exist, so it has none.
  if (code !== 0 && !/10007|not found|does not exist/i.test(output)) throw new Problem(`The secrets can't be listed:\n${output.trim()}`);
  const present = new Set(code === 0 ? SecretNames.parse(JSON.parse(stdout)).map(({ name }) => name) : []);
  const generated = { TIFO_SECRET: randomBytes(32).toString("hex"), TIFO_SUPER_KEY: `tifo_super_${randomBytes(24).toString("hex")}` };
  return Object.fromEntries(Object.entries(generated).filter(([name]) => !present.has(name)));
}

/** Uploads the Worker and its secrets as one version, and resolves to its URL. */
async function deploy(secrets: Record<string, string>): Promise<string> {
  mkdirSync(dirname(join(ROOT, SECRETS)), { recursive: true });
  writeFileSync(join(ROOT, SECRETS), JSON.stringify(secrets), { mode: 0o600 });
  const withSecrets = Object.keys(secrets).length > 0 ? ["--secrets-file", SECRETS] : [];
  const output = await runOrFail("wrangler", ["deploy", "--config", CONFIG, ...withSecrets]);
  say(output.trim());
  return addressIn(output) ?? "https://<your Worker's address>";
}

/** The address in wrangler's report: a domain of one's own, or workers.dev. */
function addressIn(output: string): string | undefined {
  const domain = /^\s*(\S+) \(custom domain/m.exec(output)?.[1];
  return domain === undefined ? /https:\/\/\S+\.workers\.dev/.exec(output)?.[0] : `https://${domain}`;
}

function printSummary(url: string, superKey: string | undefined, link: string | undefined): void {
  say(`
Tifo is deployed at ${url}
Studio is at        ${url}/studio`);
  if (superKey !== undefined) say(`\nYour super key. It is shown only once and stored only in the Worker:\n\n  ${superKey}`);
  if (link !== undefined) say(`\nCreate your site and its first admin here. The link works once, within 24 hours:\n\n  ${link}`);
  else
    say(`
To create a site and its first admin, request a link that works once, within 24 hours:

  curl -X POST ${url}/site/v1/setup-link \\
    -H "Tifo-Super-Key: ${superKey ?? "<your super key>"}" -H "Content-Type: application/json" -d '{}'`);
}
