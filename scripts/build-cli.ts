// Builds the command line: the npm package in cli/dist, and in docs/public/cli its tarball, which the site serves.
import { chmodSync, cpSync, mkdirSync, readFileSync, rmSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { z } from "@hono/zod-openapi";
import { build } from "esbuild";
import { runOrFail } from "./lib/command.ts";
import { ROOT } from "./lib/root.mjs";

const CLI = join(ROOT, "cli");
const DIST = join(CLI, "dist");
const SITE = join(ROOT, "docs/public/cli");

const { version } = z.object({ version: z.string() }).parse(JSON.parse(readFileSync(join(CLI, "package.json"), "utf8")));

rmSync(DIST, { recursive: true, force: true });
// One file without dependencies, so that npx has nothing else to download.
await build({
  absWorkingDir: ROOT,
  entryPoints: ["cli/tifo.ts"],
  outfile: "cli/dist/tifo.js",
  bundle: true,
  platform: "node",
  format: "esm",
  target: "node22",
  legalComments: "none",
  banner: { js: "#!/usr/bin/env node" },
  define: { TIFO_CLI_VERSION: JSON.stringify(version) },
});
// For links to the file itself; an installed package gets this from npm.
chmodSync(join(DIST, "tifo.js"), 0o755);
for (const file of ["package.json", "README.md"]) cpSync(join(CLI, file), join(DIST, file));
cpSync(join(ROOT, "LICENSE"), join(DIST, "LICENSE"));

rmSync(SITE, { recursive: true, force: true });
mkdirSync(SITE, { recursive: true });
await runOrFail("npm", ["pack", DIST, "--pack-destination", SITE, "--silent"]);
// A name without a version, for `npx <origin>/cli/tifo-cli.tgz`.
cpSync(join(SITE, `tifo-cli-${version}.tgz`), join(SITE, "tifo-cli.tgz"));
writeFileSync(join(SITE, "version.json"), `${JSON.stringify({ version })}\n`);
