import { defineConfig, globalIgnores } from "eslint/config";
import { createNodeResolver, importX } from "eslint-plugin-import-x";
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

const floors = "Imports run down: routes → http → services → integrations → db → lib.";

/** Bans imports from these folders of the Worker. */
function above(...folders) {
  return { regex: `^#worker/(${folders.join("|")})/`, message: floors };
}

// Everything beyond a file's own folder is named from the root, so that these patterns see it.
const climbing = { regex: "^\\.\\./", message: "Name it from the root: #worker/…, #db/…" };
const objects = {
  regex: "^#worker/durable-objects/(?!(.*/)?(stubs|frames|[^/]*\\.protocol)\\.ts$)",
  message: "Only the protocol and the stubs of a Durable Object are imported.",
};

/** What each floor may not import, the highest first. Tests may import what they like. */
const layers = [
  { files: ["worker/routes/**/*.ts"], patterns: [storage, climbing] },
  { files: ["worker/http/**/*.ts"], patterns: [climbing, objects, above("routes", "queues")] },
  { files: ["worker/durable-objects/**/*.ts"], patterns: [climbing, above("routes", "http", "queues")] },
  { files: ["worker/queues/**/*.ts"], patterns: [climbing, above("routes", "http", "durable-objects")] },
  { files: ["worker/services/**/*.ts"], patterns: [climbing, objects, above("routes", "http")] },
  {
    files: ["worker/integrations/**/*.ts"],
    patterns: [
      climbing,
      above("routes", "http", "services", "durable-objects", "queues"),
      { regex: "^#db/(?!enums|types)", message: floors },
    ],
  },
  {
    files: ["db/*.ts", "db/schema/**/*.ts"],
    ignores: ["db/demo.ts"],
    patterns: [climbing, { regex: "^#worker/(?!lib/)", message: floors }],
  },
  {
    files: ["worker/lib/**/*.ts"],
    patterns: [climbing, { regex: "^#worker/(?!lib/)", message: floors }, { regex: "^#db/(?!enums|types)", message: floors }],
  },
].map(({ files, ignores = [], patterns }) => ({
  files,
  ignores: ["**/*.test.ts", ...ignores],
  rules: { "@typescript-eslint/no-restricted-imports": ["error", { patterns }] },
}));

// The docs promise televisions whose browser is a Chromium of 2021 (94); a build turns syntax into what it knows, but adds no functions.
const youngerThanTelevisions = [
  "MemberExpression[property.name=/^(toSorted|toReversed|toSpliced|findLast|findLastIndex|fromAsync|groupBy|withResolvers)$/]",
  "MemberExpression[property.name=/^(checkVisibility|canParse|throwIfAborted|isWellFormed|toWellFormed)$/]",
  "MemberExpression[property.name=/^(union|intersection|difference|symmetricDifference|isSubsetOf|isSupersetOf|isDisjointFrom)$/]",
  "MemberExpression[object.name='URL'][property.name='parse']",
  "MemberExpression[object.name='AbortSignal'][property.name=/^(any|timeout)$/]",
  "CallExpression[callee.name='structuredClone']",
].map((selector) => ({ selector, message: "Chromium 94, which televisions have, does not know this." }));

// TypeScript's `private` is erased: RPC calls such a method of a Durable Object like any other.
const erasedPrivacy = ['PropertyDefinition[accessibility="private"]', 'MethodDefinition[accessibility="private"][kind!="constructor"]'].map(
  (selector) => ({ selector, message: "Write #name instead of private." }),
);

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
      "no-restricted-syntax": ["error", ...erasedPrivacy],
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
  { files: ["sdk/**/*.{ts,tsx}"], rules: { "no-restricted-syntax": ["error", ...erasedPrivacy, ...youngerThanTelevisions] } },
  { files: ["docs/**/*.{ts,tsx}", "test/browser/site*.ts"], languageOptions: { parserOptions: { project: ["docs/tsconfig.json"] } } },
  ...layers,
  {
    files: ["{worker,db}/**/*.ts"],
    plugins: { "import-x": importX },
    settings: { "import-x/resolver-next": [createNodeResolver({ extensions: [".ts", ".tsx", ".mjs"] })] },
    rules: { "import-x/no-cycle": "error" },
  },
  {
    // Where the compiler's own objection is what is tested.
    files: ["**/*.types.unit.test.ts"],
    rules: { "@typescript-eslint/ban-ts-comment": ["error", { "ts-expect-error": "allow-with-description" }] },
  },
  { files: ["worker/index.ts", "worker/durable-objects/**/*.ts", "bench/**/*.ts", "test/**/*.ts", "**/*.test.ts"], rules: ban(zod) },
);
