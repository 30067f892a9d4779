import { readdirSync, readFileSync } from "node:fs";
import { join } from "node:path";
import ts from "typescript";

// What the SDK's source says to viewers, found with the TypeScript parser.

const SDK = join(import.meta.dirname, "../../sdk");

/** Attributes that viewers see or hear. */
const SPOKEN = new Set(["aria-label", "aria-description", "aria-valuetext", "alt", "title", "placeholder", "label"]);

function sources(): { path: string; file: ts.SourceFile }[] {
  return readdirSync(SDK, { recursive: true, encoding: "utf8" })
    .filter((path) => /\.tsx?$/.test(path) && !/^(dist|generated)\//.test(path) && !/\.d\.ts$/.test(path))
    .map((path) => ({ path, file: ts.createSourceFile(path, readFileSync(join(SDK, path), "utf8"), ts.ScriptTarget.Latest, true) }));
}

function visit(node: ts.Node, callback: (node: ts.Node) => void): void {
  callback(node);
  node.forEachChild((child) => visit(child, callback));
}

/** The English texts of all calls of `t` and `key`. */
export function usedTexts(): Set<string> {
  const found = new Set<string>();
  for (const { file } of sources())
    visit(file, (node) => {
      if (!ts.isCallExpression(node) || !/^(t|key)$/.test(calleeOf(node))) return;
      const [text] = node.arguments;
      if (text && ts.isStringLiteralLike(text)) found.add(text.text);
    });
  return found;
}

function calleeOf({ expression }: ts.CallExpression): string {
  return ts.isPropertyAccessExpression(expression) ? expression.name.text : expression.getText();
}

/** Texts in JSX that aren't translated, with their positions. */
export function literalTexts(): string[] {
  const found: string[] = [];
  for (const { path, file } of sources().filter((source) => source.path.endsWith(".tsx"))) {
    const report = (node: ts.Node, text: string) => {
      const { line } = file.getLineAndCharacterOfPosition(node.getStart());
      if (/\p{L}{2}/u.test(text)) found.push(`sdk/${path}:${line + 1} ${text.trim()}`);
    };
    visit(file, (node) => {
      if (ts.isJsxText(node)) report(node, node.text);
      if (ts.isStringLiteralLike(node) && SENTENCE.test(node.text) && !isForDevelopers(node)) report(node, node.text);
      if (ts.isJsxAttribute(node) && SPOKEN.has(node.name.getText()) && node.initializer) shownIn(node.initializer, report);
      if (ts.isJsxExpression(node) && !ts.isJsxAttribute(node.parent) && node.expression) shownIn(node.expression, report);
    });
  }
  return found;
}

/** Wherever a sentence is written, it is probably shown. */
const SENTENCE = /^\p{Lu}[\p{L}’]+,? \p{L}/u;

/** Whether a literal is translated, or part of an error or warning. */
function isForDevelopers({ parent }: ts.Node): boolean {
  if (ts.isNewExpression(parent)) return true;
  return ts.isCallExpression(parent) && /^(t|key|console\.\w+)$/.test(parent.expression.getText());
}

/** Reports the string literals that an expression can result in. */
function shownIn(node: ts.Node, report: (node: ts.Node, text: string) => void): void {
  if (ts.isStringLiteralLike(node)) report(node, node.text);
  else if (ts.isTemplateExpression(node))
    for (const part of [node.head, ...node.templateSpans.map((span) => span.literal)]) report(part, part.text);
  else if (ts.isConditionalExpression(node)) for (const part of [node.whenTrue, node.whenFalse]) shownIn(part, report);
  else if (ts.isBinaryExpression(node)) for (const part of [node.left, node.right].slice(isComparison(node) ? 2 : 0)) shownIn(part, report);
  else if ((ts.isParenthesizedExpression(node) || ts.isJsxExpression(node)) && node.expression) shownIn(node.expression, report);
}

function isComparison({ operatorToken }: ts.BinaryExpression): boolean {
  return !/^(&&|\|\||\?\?|\+)$/.test(operatorToken.getText());
}
