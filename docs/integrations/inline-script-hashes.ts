import type { AstroIntegration } from "astro";
import { createHash } from "node:crypto";
import { glob, readFile, writeFile } from "node:fs/promises";
import { fileURLToPath } from "node:url";

const INLINE_SCRIPT = /<script(?![^>]*\ssrc=)([^>]*)>([\s\S]*?)<\/script>/g;
const DATA_BLOCK = /\stype="?(application|text\/(?!javascript))/;
const OVERLAY_FRAME = "overlay-frame.html";

/** The Content-Security-Policy sources (`'sha256-…'`) of a page's inline scripts. */
export function scriptHashes(html: string): string[] {
  return Array.from(html.matchAll(INLINE_SCRIPT))
    .filter(([, attributes = ""]) => !DATA_BLOCK.test(attributes))
    .map(([, , code = ""]) => `'sha256-${createHash("sha256").update(code).digest("base64")}'`);
}

/** Writes the hashes of the built pages' inline scripts to `_headers`, so that its policies don't need `unsafe-inline`. */
export function inlineScriptHashes(): AstroIntegration {
  return {
    name: "tifo-inline-script-hashes",
    hooks: {
      "astro:build:done": async ({ dir }) => {
        const root = fileURLToPath(dir);
        const site = new Set<string>();
        const overlayFrame = new Set<string>();
        for await (const page of glob("**/*.html", { cwd: root })) {
          const found = page === OVERLAY_FRAME ? overlayFrame : site;
          for (const hash of scriptHashes(await readFile(root + page, "utf8"))) found.add(hash);
        }
        const headers = await readFile(`${root}_headers`, "utf8");
        const filled = headers
          .replace("{site-scripts}", [...site].sort().join(" "))
          .replace("{overlay-frame-scripts}", [...overlayFrame].sort().join(" "));
        await writeFile(`${root}_headers`, filled);
      },
    },
  };
}
