// Packs this release for the test that upgrades a running server from it: the Worker as it is deployed, and the data of a server that
// has loaded the demo sites. Run it once per release: node scripts/run.mjs scripts/pack-release.ts
import { mkdirSync, mkdtempSync, readFileSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { run, runOrFail } from "./lib/command.ts";
import { guard, say, step } from "./lib/report.mjs";
import { ROOT } from "./lib/root.mjs";
import { prepareState } from "./lib/state.ts";

const ARCHIVE = join(ROOT, "test/kills/previous-release.tgz");

await guard(async () => {
  const folder = mkdtempSync(join(tmpdir(), "tifo-release-"));
  try {
    const release = join(folder, "release");
    await step("Bundling the Worker", () => runOrFail("wrangler", ["deploy", "--dry-run", "--outdir", release]));
    for (const file of ["index.js.map", "README.md"]) rmSync(join(release, file));
    writeFileSync(join(release, "wrangler.toml"), configuration());
    mkdirSync(join(release, "docs/dist"), { recursive: true });
    await prepareState(join(folder, "state"));
    // Each server makes its own.
    rmSync(join(folder, "state/secret"));
    await runOrFail("tar", ["-czf", ARCHIVE, "-C", folder, "."]);
    const commit = await run("git", ["rev-parse", "--short", "HEAD"]);
    say(`Packed ${commit.stdout.trim()} into ${ARCHIVE}`);
  } finally {
    rmSync(folder, { recursive: true, force: true });
  }
});
if (process.connected) process.disconnect();

/** The release's own configuration, for its bundle in the same folder. */
function configuration(): string {
  const source = readFileSync(join(ROOT, "wrangler.toml"), "utf8");
  return source
    .replace('main = "worker/index.ts"', 'main = "index.js"\nno_bundle = true')
    .replace(/^(minify|keep_names|upload_source_maps) = .*\n/gm, "");
}
