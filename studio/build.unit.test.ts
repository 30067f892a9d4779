import { existsSync, readFileSync } from "node:fs";
import { join } from "node:path";
import { gzipSync } from "node:zlib";
import { describe, expect, test } from "vitest";
import { z } from "@hono/zod-openapi";
import { ROOT } from "#scripts/lib/root.mjs";

const DIST = join(ROOT, "docs/dist");
const MANIFEST = join(DIST, "_studio/manifest.json");
const FIRST_SCREEN = 150_000;
const FURTHER_SCREEN = 60_000;
const CODE_EDITOR = 130_000;

const Manifest = z.record(
  z.string(),
  z.object({
    file: z.string(),
    css: z.array(z.string()).default([]),
    imports: z.array(z.string()).default([]),
    dynamicImports: z.array(z.string()).default([]),
  }),
);
type Manifest = z.infer<typeof Manifest>;

const manifest = readManifest();
const ENTRY = "studio/index.html";
const SIGN_IN = "studio/sign-in/sign-in.tsx";
const SIGNED_IN = "studio/app/signed-in.tsx";
const HOME = "studio/home/home.tsx";
const OVERLAY_EDITOR = "studio/overlays/overlay-editor.tsx";
const EDITOR = "studio/overlays/code-editor.tsx";
const screens = [...(manifest[SIGNED_IN]?.dynamicImports ?? []), ...dynamicImportsBelow(SIGNED_IN)].filter((chunk) => chunk !== HOME);

describe("the build of Studio", () => {
  test("loads at most 150 kB for the sign-in", () => {
    expect(sizeOf([ENTRY, SIGN_IN])).toBeLessThanOrEqual(FIRST_SCREEN);
  });

  test("loads at most 150 kB for the first screen of somebody who is signed in", () => {
    expect(sizeOf([ENTRY, SIGNED_IN, HOME])).toBeLessThanOrEqual(FIRST_SCREEN);
  });

  test("loads at most 60 kB more for each further screen, menu or dialog", () => {
    expect(screens.length).toBeGreaterThan(0);
    const first = filesOf([ENTRY, SIGNED_IN, HOME]);
    const sizes = screens.map((chunk) => ({ chunk, size: total([...filesOf([chunk])].filter((file) => !first.has(file))) }));
    expect(sizes.filter(({ size }) => size > FURTHER_SCREEN)).toEqual([]);
  });

  test("loads the code editor, of at most 130 kB, only where html is edited", () => {
    const screen = filesOf([ENTRY, SIGNED_IN, OVERLAY_EDITOR]);
    expect(total([...filesOf([EDITOR])].filter((file) => !screen.has(file)))).toBeLessThanOrEqual(CODE_EDITOR);
    const loaders = Object.keys(manifest).filter((key) => manifest[key]?.dynamicImports.includes(EDITOR));
    expect(loaders).toEqual([OVERLAY_EDITOR]);
    expect(Object.values(manifest).filter(({ imports }) => imports.includes(EDITOR))).toEqual([]);
  });

  test("has no inline script or event handler, which its content security policy would block", () => {
    const html = readFileSync(join(DIST, "studio/index.html"), "utf8");
    expect(html).not.toMatch(/<script(?![^>]*\ssrc=)/);
    expect(html).not.toMatch(/\son\w+=/);
  });
});

function readManifest(): Manifest {
  if (!existsSync(MANIFEST)) throw new Error("Studio isn't built yet: npm run build:studio");
  return Manifest.parse(JSON.parse(readFileSync(MANIFEST, "utf8")));
}

/** Chunks that are loaded on demand by chunks that `key` loads with itself. */
function dynamicImportsBelow(key: string): string[] {
  return [...chunksOf([key])].flatMap((chunk) => manifest[chunk]?.dynamicImports ?? []);
}

/** The chunks and all that they load with themselves. */
function chunksOf(keys: string[], found = new Set<string>()): Set<string> {
  for (const key of keys) {
    if (found.has(key)) continue;
    found.add(key);
    chunksOf(manifest[key]?.imports ?? [], found);
  }
  return found;
}

function filesOf(keys: string[]): Set<string> {
  return new Set(
    [...chunksOf(keys)].flatMap((key) => {
      const chunk = manifest[key];
      if (!chunk) throw new Error(`The build has no ${key}`);
      return [chunk.file, ...chunk.css];
    }),
  );
}

function sizeOf(keys: string[]): number {
  return total([...filesOf(keys)]);
}

function total(files: string[]): number {
  return files.reduce((sum, file) => sum + gzipSync(readFileSync(join(DIST, file)), { level: 9 }).length, 0);
}
