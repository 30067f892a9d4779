import type { AstroIntegration } from "astro";
import { glob, readFile, writeFile } from "node:fs/promises";
import { join } from "node:path";
import { fileURLToPath } from "node:url";

/** Scripts that only add to what can be read already, by the components that they belong to. */
const LATE = [
  "TableOfContents",
  "MobileTableOfContents",
  "Tabs",
  "ec",
  "live-example",
  "samples",
  "showcase",
  "signature-playground",
  "try-it",
];
const SCRIPT = new RegExp(`<script type="module" (?=src="/_astro/(?:${LATE.join("|")})\\.)`, "g");

/** A page whose late scripts don't compete with its style sheets: browsers load module scripts with a high priority unless they are told. */
export function withLateScripts(html: string): string {
  return html.replaceAll(SCRIPT, '$&fetchpriority="low" ');
}

/** Has browsers load the built pages' late scripts after what the pages look like. */
export function scriptPriorities(): AstroIntegration {
  return {
    name: "tifo-script-priorities",
    hooks: {
      "astro:build:done": async ({ dir }) => {
        const root = fileURLToPath(dir);
        for await (const file of glob("**/*.html", { cwd: root })) {
          const html = await readFile(join(root, file), "utf8");
          const changed = withLateScripts(html);
          if (changed !== html) await writeFile(join(root, file), changed);
        }
      },
    },
  };
}
