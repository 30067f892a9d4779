import { chmodSync, existsSync, mkdtempSync, readFileSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { afterEach, beforeEach, expect, test, vi } from "vitest";
import { z } from "@hono/zod-openapi";
import { readConfig, sectionsOf } from "./databases.ts";
import { deployProject } from "./deployment.ts";
import { ROOT } from "./root.mjs";

const URL = "https://tifo.example.workers.dev";
const DATABASE_ID = "0b5e1f0c-0000-4000-8000-000000000001";
const ID = "00000000-0000-0000-0000-000000000000";
const VARIABLES = sectionsOf(readConfig()).find((section) => section.startsWith("[vars]")) ?? "";
const CONFIG = `name = "tifo"\n\n${VARIABLES}[[d1_databases]]\nbinding = "DB"\ndatabase_name = "tifo"\ndatabase_id = "${ID}"\n`;
const SECOND = `\n[[d1_databases]]\nbinding = "DB_2"\ndatabase_name = "tifo-2"\ndatabase_id = "${ID}"\n`;
const Calls = z.array(
  z.object({ command: z.string(), config: z.string().nullable(), secrets: z.record(z.string(), z.string()).nullable() }),
);

/** Stands in for wrangler: notes its calls with the files that they name, and answers with what the account has. */
const STAND_IN = `#!${process.execPath}
const { existsSync, readFileSync, writeFileSync } = require("node:fs");
const folder = __dirname;
const account = JSON.parse(readFileSync(folder + "/account.json", "utf8"));
const args = process.argv.slice(2);
const command = args.join(" ");
const calls = existsSync(folder + "/calls.json") ? JSON.parse(readFileSync(folder + "/calls.json", "utf8")) : [];
const fileOf = (option) => (args.includes(option) ? readFileSync(args[args.indexOf(option) + 1], "utf8") : null);
calls.push({ command, config: fileOf("--config"), secrets: JSON.parse(fileOf("--secrets-file")) });
writeFileSync(folder + "/calls.json", JSON.stringify(calls));
const end = (text, code = 0) => {
  (code === 0 ? process.stdout : process.stderr).write(text + "\\n");
  process.exit(code);
};
const change = (next) => writeFileSync(folder + "/account.json", JSON.stringify({ ...account, ...next }));
if (account.fails && command.startsWith(account.fails)) end("Something went wrong", 1);
if (command.startsWith("whoami")) end("{}", account.signedIn ? 0 : 1);
if (command === "d1 list --json") end(JSON.stringify(account.databases));
if (command.startsWith("d1 create ")) {
  const uuid = "${DATABASE_ID}".slice(0, -1) + (account.databases.length + 1);
  change({ databases: [...account.databases, { uuid, name: args[2] }] });
  end("Created");
}
if (/^(r2 bucket|queues) create/.test(command)) account.isNew ? end("Created") : end("It already exists", 1);
if (command.startsWith("d1 migrations list")) end(account.pending.join("\\n"));
if (command.startsWith("d1 migrations apply")) end("Applied");
if (command.startsWith("secret list")) account.secrets ? end(JSON.stringify(account.secrets.map((name) => ({ name })))) : end("Worker not found [10007]", 1);
if (command.startsWith("deploy")) end("Uploaded tifo\\nDeployed tifo triggers\\n  ${URL}");
end("Unknown: " + command, 2);
`;

const NEW_ACCOUNT = { signedIn: true, isNew: true, databases: [], pending: ["0000_first.sql", "0001_second.sql"], secrets: null };
const USED_ACCOUNT = {
  ...{ signedIn: true, isNew: false, databases: [{ uuid: DATABASE_ID, name: "tifo" }], pending: ["0001_second.sql"] },
  secrets: ["TIFO_SECRET", "TIFO_SUPER_KEY"],
};

let folder: string;
let path: string | undefined;
let printed: string;

beforeEach(() => {
  folder = mkdtempSync(join(tmpdir(), "tifo-deployment-"));
  writeFileSync(join(folder, "wrangler"), STAND_IN);
  chmodSync(join(folder, "wrangler"), 0o755);
  path = process.env.PATH;
  process.env.PATH = `${folder}:${path}`;
  printed = "";
  vi.spyOn(process.stdout, "write").mockImplementation((text) => {
    printed += String(text);
    return true;
  });
  migration("0000_first.sql", "CREATE TABLE a (b TEXT)");
  migration("0001_second.sql", "ALTER TABLE a ADD COLUMN c TEXT");
});

afterEach(() => {
  process.env.PATH = path;
  rmSync(folder, { recursive: true, force: true });
  expect(["wrangler.deploy.toml", ".wrangler/secrets.json"].filter((file) => existsSync(join(ROOT, file)))).toEqual([]);
});

function migration(file: string, sql: string): void {
  writeFileSync(join(folder, file), sql);
}

/** Deploys to an account; the deployment answers requests for a setup link. */
async function deploy(account: object, { contract = false, config = CONFIG } = {}) {
  writeFileSync(join(folder, "account.json"), JSON.stringify(account));
  const send = vi.fn<typeof fetch>(() => Promise.resolve(Response.json({ url: `${URL}/studio/setup#once` }, { status: 201 })));
  const failure = await deployProject({ contract, migrations: folder, config, send }).then(
    () => undefined,
    (error: unknown) => (error instanceof Error ? error.message : String(error)),
  );
  const notes = join(folder, "calls.json");
  const calls = existsSync(notes) ? Calls.parse(JSON.parse(readFileSync(notes, "utf8"))) : [];
  const names = calls.map(({ command }) => command.replace(/ --.*/, ""));
  return { failure, calls, names, send, deployed: calls.find(({ command }) => command.startsWith("deploy")) };
}

test("a variable that isn't valid is refused before anything happens", async () => {
  const { failure, names } = await deploy(USED_ACCOUNT, { config: CONFIG.replace('RETENTION_DAYS = "30"', 'RETENTION_DAYS = "30d"') });
  expect(failure).toBe('wrangler.toml: TIFO_EVENT_RETENTION_DAYS must be a whole number of at least 1, not "30d"');
  expect(names).toEqual([]);
});

test("a first deployment creates what the account is missing, and prints the address, the super key and a link that works once", async () => {
  const { failure, names, deployed, send } = await deploy(NEW_ACCOUNT);
  expect(failure).toBeUndefined();
  expect(names).toEqual([
    ...["whoami", "d1 list", "d1 create tifo", "d1 list", "r2 bucket create tifo-media"],
    ...["queues create tifo-jobs", "queues create tifo-jobs-dead"],
    ...["d1 migrations list DB", "d1 migrations apply DB", "secret list", "deploy"],
  ]);
  expect(deployed?.config).toContain(DATABASE_ID);
  expect(Object.keys(deployed?.secrets ?? {})).toEqual(["TIFO_SECRET", "TIFO_SUPER_KEY"]);
  const superKey = deployed?.secrets?.TIFO_SUPER_KEY ?? "";
  expect(superKey).toMatch(/^tifo_super_[0-9a-f]{48}$/);
  for (const text of [`deployed at ${URL}`, `${URL}/studio`, superKey, `${URL}/studio/setup#once`]) expect(printed).toContain(text);
  expect(send.mock.calls.map(([url, init]) => [url, new Headers(init?.headers).get("Tifo-Super-Key")])).toEqual([
    [`${URL}/site/v1/setup-link`, superKey],
  ]);
});

test("a later deployment keeps the secrets, and leaves the sites alone", async () => {
  const { failure, names, deployed, send } = await deploy(USED_ACCOUNT);
  expect(failure).toBeUndefined();
  expect(names).not.toContain("d1 create tifo");
  expect(deployed?.secrets).toBeNull();
  expect(send).not.toHaveBeenCalled();
  expect(printed).toContain(`curl -X POST ${URL}/site/v1/setup-link`);
  expect(printed).not.toContain("tifo_super_");
});

test("a migration that the running release can't survive is refused before anything is changed", async () => {
  migration("0001_second.sql", "ALTER TABLE a DROP COLUMN b");
  const { failure, names } = await deploy(USED_ACCOUNT);
  expect(failure).toContain("0001_second.sql drops a column: ALTER TABLE a DROP COLUMN b");
  expect(names).not.toContain("d1 migrations apply DB");
  expect(names).not.toContain("deploy");
});

test("such a migration is applied as the second step of a change, if it is asked for, and in an empty database", async () => {
  migration("0001_second.sql", "ALTER TABLE a DROP COLUMN b");
  expect((await deploy(USED_ACCOUNT, { contract: true })).deployed).toBeDefined();
  expect((await deploy(NEW_ACCOUNT)).failure).toBeUndefined();
  migration("0001_second.sql", "-- contracts: nothing has used b since 1.2\nALTER TABLE a DROP COLUMN b");
  expect((await deploy(USED_ACCOUNT)).failure).toBeUndefined();
});

test("nothing is deployed if the migration fails, and without being signed in nothing is created", async () => {
  const { failure, names } = await deploy({ ...USED_ACCOUNT, fails: "d1 migrations apply" });
  expect(failure).toContain("Something went wrong");
  expect(names).not.toContain("deploy");
  rmSync(join(folder, "calls.json"));
  const without = await deploy({ ...NEW_ACCOUNT, signedIn: false });
  expect(without.failure).toContain("Sign in first");
  expect(without.names).toEqual(["whoami"]);
});

test("a further database is created and migrated after the first, and both migrations are checked before any is applied", async () => {
  const { failure, names, deployed } = await deploy(USED_ACCOUNT, { config: CONFIG + SECOND });
  expect(failure).toBeUndefined();
  expect(names.filter((name) => name.startsWith("d1 "))).toEqual([
    ...["d1 list", "d1 list", "d1 create tifo-2", "d1 list"],
    ...["d1 migrations list DB", "d1 migrations list DB_2", "d1 migrations apply DB", "d1 migrations apply DB_2"],
  ]);
  expect(deployed?.config).toBe((CONFIG + SECOND).replace(ID, DATABASE_ID).replace(ID, `${DATABASE_ID.slice(0, -1)}2`));
});
