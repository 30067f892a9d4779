import { defineConfig, globalIgnores } from "eslint/config";
import { createNodeResolver, importX } from "eslint-plugin-import-x";
import tseslint from "typescript-eslint";

const zod = { name: "zod", message: "Import z from @hono/zod-openapi, whose schemas have .openapi()." };
const platform = {
  name: "cloudflare:workers",
  message: "Only worker/index.ts and worker/durable-objects may import the platform; everything else must load in plain Node.",
};
const storage = {
  regex: "^drizzle-orm|^#db/(?!enums\\.ts$)",
  message: "Call a verb of worker/services; only verbs query the database.",
  allowTypeImports: true,
};

const direction = "Imports run down: routes → http → services → integrations → db → lib.";

/** Bans imports from these folders of the Worker. */
function noneOf(...folders) {
  return { regex: `^#worker/(${folders.join("|")})/`, message: direction };
}

// Imports from outside a file's own folder start at the root, so that these patterns match them.
const parentFolders = { regex: "^\\.\\./", message: "Import from the root: #worker/…, #db/…" };
const objects = {
  regex: "^#worker/durable-objects/(?!(.*/)?(stubs|frames|[^/]*\\.protocol)\\.ts$)",
  message: "Import only the protocol and the stubs of a Durable Object.",
};

/** The imports that are banned in each layer, from the highest layer to the lowest. Tests may import anything. */
const layers = [
  { files: ["worker/routes/**/*.ts"], patterns: [storage, parentFolders] },
  { files: ["worker/http/**/*.ts"], patterns: [parentFolders, objects, noneOf("routes", "queues")] },
  { files: ["worker/durable-objects/**/*.ts"], patterns: [parentFolders, noneOf("routes", "http", "queues")] },
  { files: ["worker/queues/**/*.ts"], patterns: [parentFolders, noneOf("routes", "http", "durable-objects")] },
  { files: ["worker/services/**/*.ts"], patterns: [parentFolders, objects, noneOf("routes", "http")] },
  {
    files: ["worker/integrations/**/*.ts"],
    patterns: [
      parentFolders,
      noneOf("routes", "http", "services", "durable-objects", "queues"),
      { regex: "^#db/(?!enums|types)", message: direction },
    ],
  },
  {
    files: ["db/*.ts", "db/schema/**/*.ts"],
    ignores: ["db/demo.ts"],
    patterns: [parentFolders, { regex: "^#worker/(?!lib/)", message: direction }],
  },
  {
    files: ["worker/lib/**/*.ts"],
    patterns: [parentFolders, { regex: "^#worker/(?!lib/)", message: direction }, { regex: "^#db/(?!enums|types)", message: direction }],
  },
].map(({ files, ignores = [], patterns }) => ({
  files,
  ignores: ["**/*.test.ts", ...ignores],
  rules: { "@typescript-eslint/no-restricted-imports": ["error", { patterns }] },
}));

// The docs promise support for TVs with Chromium 94 (2021). A build compiles newer syntax, but doesn't add missing functions.
const newerThanTvBrowsers = [
  "MemberExpression[property.name=/^(toSorted|toReversed|toSpliced|findLast|findLastIndex|fromAsync|groupBy|withResolvers)$/]",
  "MemberExpression[property.name=/^(checkVisibility|canParse|throwIfAborted|isWellFormed|toWellFormed)$/]",
  "MemberExpression[property.name=/^(union|intersection|difference|symmetricDifference|isSubsetOf|isSupersetOf|isDisjointFrom)$/]",
  "MemberExpression[object.name='URL'][property.name='parse']",
  "MemberExpression[object.name='AbortSignal'][property.name=/^(any|timeout)$/]",
  "CallExpression[callee.name='structuredClone']",
].map((selector) => ({ selector, message: "Chromium 94, which TVs use, doesn't support this." }));

// TypeScript's `private` is erased at build time, so RPC can call such methods of a Durable Object.
const erasedPrivacy = ['PropertyDefinition[accessibility="private"]', 'MethodDefinition[accessibility="private"][kind!="constructor"]'].map(
  (selector) => ({ selector, message: "Use #name instead of private." }),
);

const bindings = {
  selector: "MemberExpression[property.name=/^DB(_\\d+)?$/]",
  message: "Ask db/databases.ts for the database of the site, or for the directory.",
};

// A cursor that isn't read to its end holds a lock on its tables, and SQLite's log grows until it is collected as garbage.
const unreadCursors = [
  "ForOfStatement[right.callee.property.name='exec'] :matches(BreakStatement, ReturnStatement)",
  "VariableDeclarator[id.type='ArrayPattern'][init.callee.property.name='exec']",
].map((selector) => ({ selector, message: "Read the whole cursor: use toArray() or one()." }));

// A promise of another request may never settle, and what it resolves to may belong to that request.
const sharedPromises = {
  selector:
    "Program > VariableDeclaration > VariableDeclarator > NewExpression[callee.name=/Map$/] TSTypeReference[typeName.name='Promise']",
  message: "Store values, or share the work of requests with SharedCache.",
};

// `c.var` makes an object of all variables at each access, which a request pays for a dozen times.
const requestVariables = { selector: "MemberExpression[object.name='c'][property.name='var']", message: "Use c.get()." };

/** Bans these imports. If several bans match a file, only the last one applies, so each is complete. */
function ban(...paths) {
  return { "no-restricted-imports": ["error", { paths }] };
}

export default defineConfig(
  globalIgnores([
    "**/.astro",
    "**/.wrangler",
    "docs/dist",
    "docs/public/sdk",
    "docs/public/cli",
    "sdk/dist",
    "cli/dist",
    "sdk/generated",
    "worker-configuration.d.ts",
  ]),
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
      "no-restricted-syntax": ["error", ...erasedPrivacy, ...unreadCursors],
      "@typescript-eslint/ban-ts-comment": ["error", { "ts-expect-error": true }],
      "@typescript-eslint/switch-exhaustiveness-check": ["error", { considerDefaultExhaustiveForUnions: true }],
      "@typescript-eslint/no-unused-vars": ["error", { argsIgnorePattern: "^_" }],
      // Handlers and stubs are often async only because their interface is.
      "@typescript-eslint/require-await": "off",
    },
  },
  {
    files: [
      "sdk/**/*.{ts,tsx}",
      "test/sdk/**/*.ts",
      "test/browser/sdk*.ts",
      "test/kills/channel-chaos*.ts",
      "scripts/{bench-chat-panel,bench-players,bench-search,kit-pictures,soak-apps,soak-channel,soak-output,soak-overlays,soak-starters}.ts",
      "scripts/kit-pictures/*.{ts,tsx}",
    ],
    languageOptions: { parserOptions: { project: ["sdk/tsconfig.json"] } },
  },
  { files: ["sdk/**/*.{ts,tsx}"], rules: { "no-restricted-syntax": ["error", ...erasedPrivacy, ...newerThanTvBrowsers] } },
  { files: ["cli/**/*.ts", "test/cli/**/*.ts"], languageOptions: { parserOptions: { project: ["cli/tsconfig.json"] } } },
  {
    files: ["studio/**/*.{ts,tsx}", "test/browser/studio*.ts", "scripts/{studio-pictures,bench-studio}.ts"],
    languageOptions: { parserOptions: { project: ["studio/tsconfig.json"] } },
  },
  { files: ["docs/**/*.{ts,tsx}", "test/browser/site*.ts"], languageOptions: { parserOptions: { project: ["docs/tsconfig.json"] } } },
  ...layers,
  {
    files: ["{worker,db}/**/*.ts"],
    ignores: ["db/databases.ts", "**/*.test.ts"],
    rules: { "no-restricted-syntax": ["error", ...erasedPrivacy, ...unreadCursors, bindings, sharedPromises, requestVariables] },
  },
  {
    files: ["{worker,db}/**/*.ts"],
    plugins: { "import-x": importX },
    settings: { "import-x/resolver-next": [createNodeResolver({ extensions: [".ts", ".tsx", ".mjs"] })] },
    rules: { "import-x/no-cycle": "error" },
  },
  {
    // Tests that expect compile errors.
    files: ["**/*.types.unit.test.ts"],
    rules: { "@typescript-eslint/ban-ts-comment": ["error", { "ts-expect-error": "allow-with-description" }] },
  },
  { files: ["worker/index.ts", "worker/durable-objects/**/*.ts", "bench/**/*.ts", "test/**/*.ts", "**/*.test.ts"], rules: ban(zod) },
);
