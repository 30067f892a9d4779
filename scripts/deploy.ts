import { build } from "./lib/build.ts";
import { runOrFail } from "./lib/command.ts";
import { deployProject } from "./lib/deployment.ts";
import { readOptions } from "./lib/options.ts";
import { guard, say } from "./lib/report.mjs";

const USAGE = `Usage: npm run deploy -- [--dry-run] [--contract]

Deploys the project to the Cloudflare account that wrangler is signed in to, and creates missing resources.

  --dry-run   does everything that doesn't need an account
  --contract  also applies migrations that the running release can't survive`;

await guard(async () => {
  const { values } = readOptions(USAGE, {
    options: { "dry-run": { type: "boolean", default: false }, contract: { type: "boolean", default: false } },
  });
  await build();
  if (values["dry-run"]) say(await runOrFail("wrangler", ["deploy", "--dry-run", "--outdir", ".wrangler/bundle"]));
  else await deployProject({ contract: values.contract });
});
if (process.connected) process.disconnect();
