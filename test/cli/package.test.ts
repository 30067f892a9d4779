import { spawnSync } from "node:child_process";
import { mkdtempSync, readFileSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { z } from "@hono/zod-openapi";
import { publint } from "publint";
import { afterAll, beforeAll, expect, test } from "vitest";
import { runOrFail } from "#scripts/lib/command.ts";
import { ROOT } from "#scripts/lib/root.mjs";

const SITE = join(ROOT, "docs/public/cli");
const { version } = z.object({ version: z.string() }).parse(JSON.parse(readFileSync(join(SITE, "version.json"), "utf8")));

let folder: string;

beforeAll(async () => {
  folder = mkdtempSync(join(tmpdir(), "tifo-cli-package-"));
  // It has no dependencies, so that an installation needs no registry.
  const options = ["--offline", "--no-audit", "--no-fund", "--ignore-scripts", "--silent"];
  await runOrFail("npm", ["install", "--prefix", folder, ...options, join(SITE, "tifo-cli.tgz")]);
});

afterAll(() => rmSync(folder, { recursive: true, force: true }));

function tifo(...args: string[]) {
  const env = { ...process.env, TIFO_CONFIG_DIR: folder, TIFO_ORIGIN: "", TIFO_SITE_ID: "", TIFO_DEVELOPER_KEY: "" };
  const { status, stdout, stderr } = spawnSync(join(folder, "node_modules/.bin/tifo"), args, { env, encoding: "utf8", cwd: folder });
  return { status, stdout, stderr };
}

test("the package of the command line passes publint", async () => {
  const { messages } = await publint({ pkgDir: join(ROOT, "cli/dist"), strict: true });
  expect(messages).toEqual([]);
});

test("the installed command runs, reports errors on standard error and exits with their code", () => {
  expect(tifo("--version")).toEqual({ status: 0, stdout: `${version}\n`, stderr: "" });
  expect(tifo("whoami")).toEqual({
    status: 3,
    stdout: "",
    stderr: "Error: You aren't signed in.\nFix: Run tifo login, or set TIFO_ORIGIN, TIFO_SITE_ID and TIFO_DEVELOPER_KEY.\n",
  });
  const options = ["--origin", "https://tifo.example.com", "--site", "5eed00000000000000000001", "--channel", "5eed0000000000000000c001"];
  expect(tifo("init", "page", "--template", "plain", ...options).status).toBe(0);
  expect(readFileSync(join(folder, "page/index.html"), "utf8")).toContain("https://tifo.example.com/sdk/tifo.js");
});
