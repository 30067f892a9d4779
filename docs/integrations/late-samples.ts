import type { AstroIntegration } from "astro";
import { glob, readFile, writeFile } from "node:fs/promises";
import { dirname, join } from "node:path";
import { fileURLToPath } from "node:url";
import { splitSamples } from "../src/publish/late-samples.ts";

/** Moves the samples of operation pages in all languages but the first to a `samples.json` beside each page. */
export function lateSamples(): AstroIntegration {
  return {
    name: "tifo-late-samples",
    hooks: {
      "astro:build:done": async ({ dir }) => {
        const root = fileURLToPath(dir);
        for await (const file of glob("docs/api-reference/*/index.html", { cwd: root })) {
          const { page, samples } = splitSamples(await readFile(join(root, file), "utf8"));
          if (samples.length === 0) continue;
          await writeFile(join(root, file), page);
          await writeFile(join(root, dirname(file), "samples.json"), JSON.stringify(samples));
        }
      },
    },
  };
}
