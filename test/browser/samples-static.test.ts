import { globSync, readFileSync } from "node:fs";
import { join } from "node:path";
import { spawnSync } from "node:child_process";
import { Lexer, ParseMode, Parser } from "brighterscript";
import { afterAll, beforeAll, expect, test } from "vitest";
import { operations } from "#docs/src/components/operation/document.ts";
import { samplesOf } from "#docs/src/components/samples/languages.ts";
import { run } from "#scripts/lib/command.ts";
import { ROOT } from "#scripts/lib/root.mjs";
import { ERRORS } from "#worker/lib/errors.ts";
import { allFences, type Fence, fencesIn, fencesOf, place } from "./samples/fences.ts";
import { createSampleFolder, type SampleFolder } from "./samples/programs.ts";

// Checks of the site's samples that need no server: they parse, type-check against the SDK, and match its signatures.

const fences = allFences();
let sampleFolder: SampleFolder;

beforeAll(() => {
  sampleFolder = createSampleFolder();
});

afterAll(() => sampleFolder.clear());

test("fences are extracted with their language and notes, without their indentation", () => {
  const page = [
    "1. First",
    "",
    '   ```sh norun="never ends"',
    "   sleep 9",
    "     # deep",
    "   ```",
    "",
    "````md",
    "```js",
    "```",
    "````",
  ].join("\n");
  expect(fencesOf("a.md", page)).toEqual([
    { page: "a.md", line: 4, language: "sh", meta: 'norun="never ends"', code: "sleep 9\n  # deep" },
    { page: "a.md", line: 9, language: "md", meta: "", code: "```js\n```" },
  ]);
});

test("JSON samples are valid JSON", () => {
  const wrong = fencesIn(fences, "json").flatMap((fence) => problems(fence, () => void JSON.parse(fence.code)));
  expect(wrong).toEqual([]);
});

test("signatures on the Web SDK's pages match its model", () => {
  const model = globSync("sdk/{model,client,channel,players,react}/**/*.{ts,tsx}", { cwd: ROOT })
    .map((file) => normalise(readFileSync(join(ROOT, file), "utf8")))
    .join("\n");
  const signatures = fences.filter(({ language, meta }) => language === "ts" && /\bsignature\b/.test(meta));
  expect(signatures.length).toBeGreaterThan(0);
  expect(signatures.filter(({ code }) => !model.includes(normalise(code))).map((fence) => `${place(fence)}\n${fence.code}`)).toEqual([]);
});

test("TypeScript samples type-check against the SDK", async () => {
  const checked = fencesIn(fences, "ts", "tsx").filter(({ meta }) => !/\bsignature\b/.test(meta));
  const names = new Map(checked.map((fence, index) => [`sample-${index}.${fence.language}`, fence]));
  for (const [name, fence] of names) sampleFolder.write(name, `${fence.code}\nexport {};\n`);
  const sdk = (path: string): string[] => [join(ROOT, "sdk", path)];
  const paths = {
    "@tifo/web": sdk("index.ts"),
    "@tifo/web/client": sdk("client"),
    "@tifo/web/channel": sdk("channel"),
    "@tifo/web/players": sdk("players"),
    "@tifo/web/react": sdk("react"),
    "@tifo/web/tifo.css": sdk("styles/tifo.css"),
  };
  const compilerOptions = {
    lib: ["ES2024", "DOM", "DOM.Iterable"],
    types: ["node"],
    jsx: "react-jsx",
    noUnusedLocals: false,
    noUnusedParameters: false,
    paths,
  };
  const config = { extends: join(ROOT, "tsconfig.json"), compilerOptions, include: [], files: [...names.keys()] };
  const reference = typescriptReference();
  names.set("reference.ts", { page: "the reference", line: 1, language: "ts", meta: "", code: reference });
  sampleFolder.write("reference.ts", reference);
  config.files.push("reference.ts");
  const project = sampleFolder.write("tsconfig.json", JSON.stringify(config));
  const { output } = await run("tsc", ["-p", project, "--pretty", "false"]);
  const messages = output.split("\n").flatMap((line) => {
    const [, name = "", at = "", message = ""] = /((?:sample-\d+|reference)\.tsx?)\((\d+),\d+\): (.*)$/.exec(line) ?? [];
    const fence = names.get(name);
    return fence ? [`${fence.page}:${fence.line + Number(at) - 1} ${message}`] : line.includes("error TS") ? [line] : [];
  });
  expect(messages).toEqual([]);
});

test("Swift, Kotlin, Go and PHP samples on the site and in the reference parse", () => {
  const grammars = ["swift", "kotlin", "go", "php"];
  const reference = operations.flatMap((operation) =>
    samplesOf(operation)
      .filter(({ language }) => grammars.includes(language))
      .map(({ language, code }) => ({ name: `${operation.operationId}, ${language}`, language, code })),
  );
  const pages = fencesIn(fences, ...grammars).map((fence) => ({ name: place(fence), language: fence.language, code: fence.code }));
  expect(reference.length).toBeGreaterThan(operations.length);
  const child = spawnSync(process.execPath, ["--no-warnings", "--liftoff-only", join(ROOT, "test/browser/samples/parse.ts")], {
    input: JSON.stringify([...pages, ...reference]),
    encoding: "utf8",
  });
  expect(child.stderr).toBe("");
  expect(JSON.parse(child.stdout)).toEqual([]);
});

test("the grammars detect errors", () => {
  const input = JSON.stringify([
    { name: "swift", language: "swift", code: "let x = = 1" },
    { name: "kotlin", language: "kotlin", code: "fun f( {" },
  ]);
  const child = spawnSync(process.execPath, ["--no-warnings", "--liftoff-only", join(ROOT, "test/browser/samples/parse.ts")], {
    input,
    encoding: "utf8",
  });
  expect(child.stdout).toMatch(/"swift".*"kotlin"/);
});

test("BrightScript samples parse", () => {
  const wrong = fencesIn(fences, "brs", "brightscript").flatMap((fence) => {
    const { tokens, diagnostics } = Lexer.scan(fence.code);
    const parser = Parser.parse(tokens, { mode: ParseMode.BrightScript });
    return [...diagnostics, ...parser.diagnostics].map(({ message, range }) => `${fence.page}:${fence.line + range.start.line} ${message}`);
  });
  expect(wrong).toEqual([]);
});

test("links to the reference point to existing operations, and links to errors to existing codes", () => {
  const ids = new Set(operations.map(({ operationId }) => operationId));
  const wrong = globSync("docs/src/**/*.{md,mdx,astro,ts,tsx}", { cwd: ROOT }).flatMap((file) => {
    const text = readFileSync(join(ROOT, file), "utf8");
    const linked = [...text.matchAll(/\/docs\/api-reference\/([A-Za-z]+)/g)].filter(([, id = ""]) => !ids.has(id));
    const explained = [...text.matchAll(/\/errors#([a-z_]+)/g)].filter(([, code = ""]) => !(code in ERRORS));
    return [...linked, ...explained].map(([link]) => `${file}: ${link}`);
  });
  expect(wrong).toEqual([]);
});

test("every fence that isn't run states why", () => {
  expect(fences.filter(({ meta }) => /\bnorun\b(?!="[^"]{5,}")/.test(meta)).map(place)).toEqual([]);
});

/** The TypeScript samples of all operations as one module, which is checked faster than as many. */
function typescriptReference(): string {
  const blocks = operations.flatMap(({ operationId, ...operation }) => {
    const sample = samplesOf({ operationId, ...operation }).find(({ language }) => language === "ts");
    return sample ? [`// ${operationId}\n{\n${sample.code.replace(/^import .*$/m, "")}\n}`] : [];
  });
  expect(blocks.length).toBeGreaterThan(100);
  return `import { createClient, done, ok } from "@tifo/web/client";\n${blocks.join("\n")}\n`;
}

/** Removes comments and normalises whitespace. */
function normalise(code: string): string {
  return code
    .replaceAll(/\/\*[^]*?\*\/|\/\/.*$/gm, "")
    .replaceAll(/\s+/g, " ")
    .trim();
}

function problems(fence: Fence, check: () => void): string[] {
  try {
    check();
    return [];
  } catch (error) {
    return [`${place(fence)}: ${String(error)}`];
  }
}
