// Parses code with tree-sitter grammars: reads `[{ name, language, code }]` and writes the errors as `[{ name, error }]`.
// Runs in its own process, because only Node's baseline WebAssembly compiler (`--liftoff-only`) can load these grammars.
import { createRequire } from "node:module";
import { text } from "node:stream/consumers";
import { z } from "@hono/zod-openapi";
import { Language, type Node, Parser } from "web-tree-sitter";

const Input = z.array(z.object({ name: z.string(), language: z.string(), code: z.string() }));

const grammars = createRequire(import.meta.url);
const languages = new Map<string, Language>();
const wrong: { name: string; error: string }[] = [];

await Parser.init();
const parser = new Parser();
for (const { name, language, code } of Input.parse(JSON.parse(await text(process.stdin)))) {
  parser.setLanguage(await languageOf(language));
  const tree = parser.parse(code);
  if (!tree) wrong.push({ name, error: "can't be parsed" });
  else if (tree.rootNode.hasError) wrong.push({ name, error: describeError(firstError(tree.rootNode)) });
  tree?.delete();
}
process.stdout.write(JSON.stringify(wrong));

async function languageOf(name: string): Promise<Language> {
  const known = languages.get(name) ?? (await Language.load(grammars.resolve(`tree-sitter-wasms/out/tree-sitter-${name}.wasm`)));
  languages.set(name, known);
  return known;
}

/** The innermost node with an error. */
function firstError(node: Node): Node {
  const inner = node.children.find((child) => child?.hasError === true || child?.isMissing === true);
  return inner && !node.isMissing ? firstError(inner) : node;
}

function describeError({ startPosition, isMissing, type, text: code }: Node): string {
  return `line ${startPosition.row + 1}: ${isMissing ? `missing ${type}` : code.slice(0, 120)}`;
}
