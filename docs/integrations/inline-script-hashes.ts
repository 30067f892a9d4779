import type { AstroIntegration } from "astro";
import { createHash } from "node:crypto";
import { glob, readFile, writeFile } from "node:fs/promises";
import { fileURLToPath } from "node:url";
import { transform } from "esbuild";

const INLINE_SCRIPT = /<script(?![^>]*\ssrc=)([^>]*)>([\s\S]*?)<\/script>/g;
const HEAD_SCRIPT = /<script>([\s\S]*?)<\/script>/g;
const DATA_BLOCK = /\stype="?(application|text\/(?!javascript))/;
const OVERLAY_FRAME = "overlay-frame.html";

/** The Content-Security-Policy sources (`'sha256-…'`) of a page's inline scripts. */
export function scriptHashes(html: string): string[] {
  return Array.from(html.matchAll(INLINE_SCRIPT))
    .filter(([, attributes = ""]) => !DATA_BLOCK.test(attributes))
    .map(([, , code = ""]) => `'sha256-${createHash("sha256").update(code).digest("base64")}'`);
}

/** The page with the inline scripts of its head minified, which nothing else minifies. In the body, samples contain scripts too. */
async function minified(html: string, known: Map<string, string>): Promise<string> {
  const end = html.indexOf("</head>");
  let head = html.slice(0, end);
  for (const [script, code = ""] of head.matchAll(HEAD_SCRIPT)) {
    const short = known.get(code) ?? (await transform(code, { minify: true })).code.trim();
    known.set(code, short);
    head = head.replace(script, () => `<script>${short}</script>`);
  }
  return head + html.slice(end);
}

/**
 * Minifies the inline scripts in the heads of the built pages, and writes the hashes of all inline scripts to `_headers`, so
 * that its policies don't need `unsafe-inline`.
 */
export function inlineScriptHashes(): AstroIntegration {
  return {
    name: "tifo-inline-script-hashes",
    hooks: {
      "astro:build:done": async ({ dir }) => {
        const root = fileURLToPath(dir);
        const site = new Set<string>();
        const overlayFrame = new Set<string>();
        const known = new Map<string, string>();
        for await (const page of glob("**/*.html", { cwd: root })) {
          const html = await readFile(root + page, "utf8");
          const isFrame = page === OVERLAY_FRAME;
          const served = isFrame ? html : await minified(html, known);
          if (served !== html) await writeFile(root + page, served);
          for (const hash of scriptHashes(served)) (isFrame ? overlayFrame : site).add(hash);
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
