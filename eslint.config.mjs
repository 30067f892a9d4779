import { defineConfig, globalIgnores } from "eslint/config";
import tseslint from "typescript-eslint";

const zod = { name: "zod", message: "Import z from @hono/zod-openapi, whose schemas know .openapi()." };
const platform = {
  name: "cloudflare:workers",
  message: "Only worker/index.ts and worker/durable-objects may need the platform: the rest loads in plain Node.",
};
const storage = {
  regex: "^drizzle-orm|^#db/(?!enums\\.ts$)",
  message: "A route calls a verb of worker/services; only those query.",
  allowTypeImports: true,
};

// The docs promise televisions whose browser is a Chromium of 2021 (94); a build turns syntax into what it knows, but adds no functions.
const youngerThanTelevisions = [
  "MemberExpression[property.name=/^(toSorted|toReversed|toSpliced|findLast|findLastIndex|fromAsync|groupBy|withResolvers)$/]",
  "MemberExpression[property.name=/^(checkVisibility|canParse|throwIfAborted|isWellFormed|toWellFormed)$/]",
  "MemberExpression[property.name=/^(union|intersection|difference|symmetricDifference|isSubsetOf|isSupersetOf|isDisjointFrom)$/]",
  "MemberExpression[object.name='URL'][property.name='parse']",
  "MemberExpression[object.name='AbortSignal'][property.name=/^(any|timeout)$/]",
  "CallExpression[callee.name='structuredClone']",
].map((selector) => ({ selector, message: "Chromium 94, which televisions have, does not know this." }));

/** Bans these imports. Of several that match a file the last one counts, so each names all that it bans. */
function ban(...paths) {
  return { "no-restricted-imports": ["error", { paths }] };
}

export default defineConfig(
  globalIgnores(["**/.astro", "**/.wrangler", "docs/dist", "docs/public/sdk", "sdk/dist", "sdk/generated", "worker-configuration.d.ts"]),
  { linterOptions: { noInlineConfig: true } },
  { files: ["**/*.{mjs,ts,tsx}"], rules: { ...ban(zod, platform), eqeqeq: "error", "no-var": "error", "prefer-const": "error" } },
  {
    files: ["**/*.{ts,tsx}"],
    extends: [tseslint.configs.recommendedTypeChecked],
    languageOptions: { parserOptions: { project: ["tsconfig.json", "scripts/tsconfig.json"], tsconfigRootDir: import.meta.dirname } },
    rules: {
      "@typescript-eslint/consistent-type-assertions": ["error", { assertionStyle: "never" }],
      "@typescript-eslint/consistent-type-imports": ["error", { fixStyle: "inline-type-imports" }],
      "@typescript-eslint/no-explicit-any": "error",
      "@typescript-eslint/no-non-null-assertion": "error",
      "@typescript-eslint/ban-ts-comment": ["error", { "ts-expect-error": true }],
      "@typescript-eslint/switch-exhaustiveness-check": ["error", { considerDefaultExhaustiveForUnions: true }],
      "@typescript-eslint/no-unused-vars": ["error", { argsIgnorePattern: "^_" }],
      // A handler or a stand-in is often async only because its interface says so.
      "@typescript-eslint/require-await": "off",
    },
  },
  {
    files: ["sdk/**/*.{ts,tsx}", "test/sdk/**/*.ts", "test/browser/{sdk,channel-chaos}*.ts", "scripts/soak-{apps,channel,overlays}.ts"],
    languageOptions: { parserOptions: { project: ["sdk/tsconfig.json"] } },
  },
  { files: ["sdk/**/*.{ts,tsx}"], rules: { "no-restricted-syntax": ["error", ...youngerThanTelevisions] } },
  { files: ["docs/**/*.{ts,tsx}", "test/browser/site*.ts"], languageOptions: { parserOptions: { project: ["docs/tsconfig.json"] } } },
  {
    files: ["worker/routes/**/*.ts"],
    ignores: ["**/*.test.ts"],
    rules: { "@typescript-eslint/no-restricted-imports": ["error", { patterns: [storage] }] },
  },
  { files: ["worker/index.ts", "worker/durable-objects/**/*.ts", "bench/**/*.ts", "test/**/*.ts", "**/*.test.ts"], rules: ban(zod) },
);
