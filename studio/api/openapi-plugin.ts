import { readFileSync } from "node:fs";
import { join } from "node:path";
import type { Plugin } from "vite";
import { ROOT } from "#scripts/lib/root.mjs";
import { excerptOf } from "./excerpt.ts";

const SCHEME = "openapi:";

/** Resolves `import("openapi:getPage,updatePage")` to an excerpt of the API's OpenAPI document, a chunk of its own. */
export function openapiPlugin(): Plugin {
  let document: unknown;
  return {
    name: "openapi",
    resolveId: { filter: { id: /^openapi:/ }, handler: (id) => `\0${id}` },
    load: {
      filter: { id: /^\0openapi:/ },
      handler(id) {
        document ??= JSON.parse(readFileSync(join(ROOT, "docs/public/openapi.json"), "utf8"));
        const operationIds = id.slice(SCHEME.length + 1).split(",");
        return `export default JSON.parse(${JSON.stringify(JSON.stringify(excerptOf(document, operationIds)))})`;
      },
    },
  };
}
