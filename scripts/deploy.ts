// `npm run deploy`: deploys the project to the Cloudflare account that wrangler is signed in to, and creates missing
// resources. `npm run deploy -- --dry-run` does everything that doesn't need an account.
// `-- --contract` also applies migrations that the running release can't survive.
import { build } from "./lib/build.ts";
import { runOrFail } from "./lib/command.ts";
import { deployProject } from "./lib/deployment.ts";
import { guard, say } from "./lib/report.mjs";

await guard(async () => {
  await build();
  if (process.argv.includes("--dry-run")) say(await runOrFail("wrangler", ["deploy", "--dry-run", "--outdir", ".wrangler/bundle"]));
  else await deployProject({ contract: process.argv.includes("--contract") });
});
if (process.connected) process.disconnect();
