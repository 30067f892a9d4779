// Builds the SDK: the npm package in sdk/dist; in docs/public/sdk, which the site serves, its tarball and the script for pages without a bundler.
import { createHash } from "node:crypto";
import { cpSync, existsSync, mkdirSync, readdirSync, readFileSync, rmSync, writeFileSync } from "node:fs";
import { basename, join } from "node:path";
import { build, type BuildOptions, type Plugin } from "esbuild";
import { z } from "@hono/zod-openapi";
import { runOrFail } from "./lib/command.ts";
import { compiledTexts } from "./lib/compiled-texts.ts";
import { emojiGroups } from "./lib/emoji.ts";
import { ROOT } from "./lib/root.mjs";
import { LANGUAGES } from "#sdk/i18n/languages.ts";
import { KIT_FONT_FILES } from "#sdk/overlay/kit/fonts.ts";

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
  define: { "process.env.NODE_ENV": '"production"', TIFO_SDK_VERSION: JSON.stringify(version), TIFO_SCRIPT: "false" },
  legalComments: "none",
} satisfies BuildOptions;

/** The panels in files of their own use the context of the script that loads them: a copy would be another context. */
const sharedContext: Plugin = {
  name: "shared-context",
  setup: (bundle) =>
    bundle.onResolve({ filter: /\/context\.tsx$/ }, ({ path, resolveDir }) =>
      join(resolveDir, path) === join(SDK, "react/context.tsx") ? { path: "tifo/context", external: true } : undefined,
    ),
};

await buildPackage();
await buildRelease();

/** ESM with one file per entry point and shared chunks. React is external, so that the host app's copy is used. */
async function buildPackage(): Promise<void> {
  rmSync(DIST, { recursive: true, force: true });
  await build({
    ...common,
    minify: false,
    format: "esm",
    splitting: true,
    entryPoints: {
      index: "sdk/index.ts",
      client: "sdk/client/index.ts",
      channel: "sdk/channel/index.ts",
      cues: "sdk/cues/index.ts",
      players: "sdk/players/index.ts",
      react: "sdk/react/index.ts",
    },
    outdir: "sdk/dist",
    external: ["react", "react-dom", "openapi-fetch"],
  });
  await runOrFail("tsc", ["-p", "sdk/tsconfig.package.json"]);
  cpSync(join(SDK, "generated"), join(DIST, "types/generated"), { recursive: true });
  for (const file of ["package.json", "README.md"]) cpSync(join(SDK, file), join(DIST, file));
  await build({ ...common, minify: false, entryPoints: ["sdk/styles/tifo.css"], outdir: "sdk/dist" });
  cpSync(join(SDK, "styles/tifo.css.d.ts"), join(DIST, "tifo.css.d.ts"));
  cpSync(join(ROOT, "LICENSE"), join(DIST, "LICENSE"));
}

/** The package's tarball, and a script that includes React. Rive's runtime, graphics and the largest panels are separate files, loaded when first shown. */
async function buildRelease(): Promise<void> {
  removePrevious();
  const release = join(RELEASES, version);
  mkdirSync(release, { recursive: true });
  await build({
    ...common,
    define: { ...common.define, TIFO_SCRIPT: "true" },
    format: "iife",
    entryPoints: ["sdk/script/tifo.ts", "sdk/script/tifo-elements.ts", "sdk/script/tifo-legacy.ts", "sdk/output/output.ts"],
    entryNames: "[name]",
    plugins: [compiledTexts],
    outdir: release,
    external: ["./rive.js"],
  });
  const files = {
    rive: "sdk/react/rive/runtime.ts",
    sanitize: "sdk/core/sanitize.ts",
    "tifo-players": "sdk/players/index.ts",
    cues: "sdk/cues/index.ts",
    ...Object.fromEntries(
      LANGUAGES.filter((language) => language !== "en").map((language) => [`texts-${language}`, `sdk/i18n/messages/${language}.ts`]),
    ),
  };
  await build({ ...common, format: "esm", entryPoints: files, plugins: [compiledTexts], outdir: release });
  await build({
    ...common,
    define: { ...common.define, TIFO_SCRIPT: "true" },
    format: "cjs",
    entryPoints: {
      chat: "sdk/react/chat/chat-panel.tsx",
      questions: "sdk/react/panel/questions/questions.tsx",
      ranks: "sdk/react/panel/ranks/ranks.tsx",
      lists: "sdk/react/panel/lists.tsx",
      shop: "sdk/react/panel/shop/shop-panel.tsx",
      kit: "sdk/overlay/kit/kit-overlay.tsx",
      graphic: "sdk/overlay/graphic/graphic-overlay.tsx",
      ...kitEntryPoints(),
    },
    plugins: [sharedContext, compiledTexts],
    outdir: release,
    external: ["react", "react-dom"],
    // ES modules with a function that receives a `require`: these panels render with the React of the script that loads them.
    banner: { js: "export default function(require){const module={exports:{}};" },
    footer: { js: "return module.exports}" },
  });
  for (const { weight, subset, file } of KIT_FONT_FILES) cpSync(kitFont(weight, subset), join(release, file));
  writeFileSync(join(release, "emoji.json"), JSON.stringify(emojiGroups()));
  await build({ ...common, entryPoints: ["sdk/styles/tifo.css", "sdk/output/output.css"], entryNames: "[name]", outdir: release });
  cpSync(RIVE, join(release, "rive.wasm"));
  // Reproducible: npm sets the same time and mode for every entry.
  await runOrFail("npm", ["pack", DIST, "--pack-destination", release, "--silent"]);
  const released = readdirSync(release).sort();
  const integrity = Object.fromEntries(released.map((file) => [file, integrityOf(join(release, file))]));
  const name = `${version}-${createHash("sha256").update(JSON.stringify(integrity)).digest("hex").slice(0, 8)}`;
  cpSync(release, join(PINNED, name), { recursive: true });
  cpSync(release, SITE, { recursive: true });
  for (const tarball of entriesOf(RELEASES).flatMap(tarballsOf)) cpSync(tarball, join(SITE, basename(tarball)));
  writeFileSync(join(SITE, "integrity.json"), `${JSON.stringify({ version, pinned: `/sdk/pinned/${name}`, files: integrity }, null, 2)}\n`);
}

/** Each template of the overlay kit in a file of its own, loaded when it is first shown. */
function kitEntryPoints(): Record<string, string> {
  const files = readdirSync(join(SDK, "overlay/kit/templates"));
  return Object.fromEntries(files.map((file) => [`kit-${basename(file, ".tsx")}`, `sdk/overlay/kit/templates/${file}`]));
}

function kitFont(weight: number, subset: string): string {
  return join(ROOT, `node_modules/@fontsource/barlow-condensed/files/barlow-condensed-${subset}-${weight}-normal.woff2`);
}

/** Removes earlier builds of this version. Other versions stay, each with the runtime that its pinned script loads. */
function removePrevious(): void {
  const previous = [
    ...entriesOf(SITE).filter((path) => path !== PINNED && path !== RELEASES),
    ...entriesOf(RELEASES).filter((path) => basename(path) === version),
    ...entriesOf(PINNED).filter((path) => basename(path).startsWith(`${version}-`)),
  ];
  for (const path of previous) rmSync(path, { recursive: true });
}

function entriesOf(folder: string): string[] {
  return existsSync(folder) ? readdirSync(folder).map((name) => join(folder, name)) : [];
}

/** Tarballs of all versions, so that projects that depend on an older one can still be installed. */
function tarballsOf(release: string): string[] {
  return entriesOf(release).filter((path) => path.endsWith(".tgz"));
}

/** In the format of the `integrity` attribute (W3C Subresource Integrity). */
function integrityOf(path: string): string {
  return `sha384-${createHash("sha384").update(readFileSync(path)).digest("base64")}`;
}
