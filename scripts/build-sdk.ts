// Builds the SDK: the npm package into sdk/dist, and into docs/public/sdk, from where the site serves it, its tarball and the script of plain pages.
import { createHash } from "node:crypto";
import { cpSync, existsSync, mkdirSync, readdirSync, readFileSync, rmSync, writeFileSync } from "node:fs";
import { basename, join } from "node:path";
import { build, type BuildOptions } from "esbuild";
import { z } from "@hono/zod-openapi";
import { runOrFail } from "./lib/command.ts";
import { ROOT } from "./lib/root.mjs";

const SDK = join(ROOT, "sdk");
const DIST = join(SDK, "dist");
const SITE = join(ROOT, "docs/public/sdk");
const PINNED = join(SITE, "pinned");
const RELEASES = join(SITE, "releases");
const RIVE = join(ROOT, "node_modules/@rive-app/canvas-lite/rive.wasm");

const text = (path: string) => readFileSync(path, "utf8");
const { version } = z.object({ version: z.string() }).parse(JSON.parse(text(join(SDK, "package.json"))));

const common = {
  absWorkingDir: ROOT,
  bundle: true,
  minify: true,
  target: "es2022",
  jsx: "automatic",
  define: { "process.env.NODE_ENV": '"production"', TIFO_SDK_VERSION: JSON.stringify(version) },
  legalComments: "none",
} satisfies BuildOptions;

await buildPackage();
await buildRelease();

/** ESM, one file for each entry and what they share beside them; React stays the host's own. */
async function buildPackage(): Promise<void> {
  rmSync(DIST, { recursive: true, force: true });
  await build({
    ...common,
    minify: false,
    format: "esm",
    splitting: true,
    entryPoints: { index: "sdk/index.ts", client: "sdk/client/index.ts", channel: "sdk/channel/index.ts", react: "sdk/react/index.ts" },
    outdir: "sdk/dist",
    external: ["react", "react-dom", "openapi-fetch"],
  });
  await runOrFail("tsc", ["-p", "sdk/tsconfig.package.json"]);
  cpSync(join(SDK, "generated"), join(DIST, "types/generated"), { recursive: true });
  for (const file of ["package.json", "README.md"]) cpSync(join(SDK, file), join(DIST, file));
  for (const file of ["tifo.css", "tifo.css.d.ts"]) cpSync(join(SDK, "styles", file), join(DIST, file));
  cpSync(join(ROOT, "LICENSE"), join(DIST, "LICENSE"));
}

/** The package's tarball, and one script with React in it; rive's runtime is a file of its own, loaded when the first animation comes. */
async function buildRelease(): Promise<void> {
  removeFormer();
  const release = join(RELEASES, version);
  mkdirSync(release, { recursive: true });
  await build({
    ...common,
    format: "iife",
    entryPoints: ["sdk/script/tifo.ts", "sdk/script/tifo-legacy.ts"],
    outdir: release,
    external: ["./rive.js"],
  });
  await build({ ...common, format: "esm", entryPoints: { rive: "sdk/react/rive/runtime.ts" }, outdir: release });
  await build({ ...common, entryPoints: ["sdk/styles/tifo.css"], outdir: release });
  cpSync(RIVE, join(release, "rive.wasm"));
  // The same bytes from the same files: npm gives every entry one time and one mode.
  await runOrFail("npm", ["pack", DIST, "--pack-destination", release, "--silent"]);
  const files = readdirSync(release).sort();
  const integrity = Object.fromEntries(files.map((file) => [file, integrityOf(join(release, file))]));
  const name = `${version}-${createHash("sha256").update(JSON.stringify(integrity)).digest("hex").slice(0, 8)}`;
  cpSync(release, join(PINNED, name), { recursive: true });
  cpSync(release, SITE, { recursive: true });
  for (const tarball of entriesOf(RELEASES).flatMap(tarballsOf)) cpSync(tarball, join(SITE, basename(tarball)));
  writeFileSync(join(SITE, "integrity.json"), `${JSON.stringify({ version, pinned: `/sdk/pinned/${name}`, files: integrity }, null, 2)}\n`);
}

/** Other versions stay, each with the runtime that its pinned script loads; of this one only what is built now. */
function removeFormer(): void {
  const former = [
    ...entriesOf(SITE).filter((path) => path !== PINNED && path !== RELEASES),
    ...entriesOf(RELEASES).filter((path) => basename(path) === version),
    ...entriesOf(PINNED).filter((path) => basename(path).startsWith(`${version}-`)),
  ];
  for (const path of former) rmSync(path, { recursive: true });
}

function entriesOf(folder: string): string[] {
  return existsSync(folder) ? readdirSync(folder).map((name) => join(folder, name)) : [];
}

/** Of every version that is still here: a project that was installed from one is installed from it again. */
function tarballsOf(release: string): string[] {
  return entriesOf(release).filter((path) => path.endsWith(".tgz"));
}

/** As the `integrity` attribute takes it (W3C Subresource Integrity). */
function integrityOf(path: string): string {
  return `sha384-${createHash("sha384").update(readFileSync(path)).digest("base64")}`;
}
