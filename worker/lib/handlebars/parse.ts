import { z } from "@hono/zod-openapi";
import { parse } from "@handlebars/parser";
import { scanTemplate, TemplateError } from "./scan.ts";

/** `../` steps up `depth` contexts; `data` starts at the `@` variables instead. */
export interface Path {
  data: boolean;
  depth: number;
  parts: string[];
}

const BLOCKS = ["if", "unless", "each", "with"] as const;
const Blocks = z.enum(BLOCKS);

export interface Block {
  kind: (typeof BLOCKS)[number];
  path: Path;
  body: TemplateNode[];
  otherwise: TemplateNode[];
}

/** A node of a template; every value is escaped, in two braces or three. */
export type TemplateNode = { kind: "text"; text: string } | { kind: "value"; path: Path } | Block;

export type Template = TemplateNode[];

// The parser's own types don't discriminate its nodes.
const Location = z.object({ start: z.object({ line: z.number(), column: z.number() }) });
const PathExpression = z.object({
  type: z.literal("PathExpression"),
  data: z.boolean(),
  depth: z.number(),
  parts: z.array(z.string()),
  original: z.string(),
});
const Program = z.object({ body: z.array(z.unknown()), blockParams: z.array(z.string()).default([]) });
const call = { path: PathExpression, params: z.array(z.unknown()), hash: z.unknown() };
const Statement = z.discriminatedUnion("type", [
  z.object({ type: z.literal("ContentStatement"), value: z.string() }),
  z.object({ type: z.literal("CommentStatement") }),
  z.object({ type: z.literal("MustacheStatement"), ...call }),
  z.object({ type: z.literal("BlockStatement"), ...call, program: Program.nullish(), inverse: Program.nullish() }),
]);
const Mismatch = z.object({ message: z.string(), lineNumber: z.number(), column: z.number() });
const Unexpected = z.object({
  hash: z.object({ token: z.string(), text: z.string(), loc: z.object({ last_line: z.number(), last_column: z.number() }) }),
});

/**
 * Parses a template in the supported subset of Handlebars: variables with dots, `../`, `this` and `@` names, `#if`, `#unless`, `#each`,
 * `#with`, `else`, comments and whitespace control. Throws a TemplateError with line and column.
 */
export function parseTemplate(source: string): Template {
  scanTemplate(source);
  return nodesOf(syntaxTree(source).body);
}

function syntaxTree(source: string): z.output<typeof Program> {
  try {
    return Program.parse(parse(source));
  } catch (error) {
    throw describe(error) ?? error;
  }
}

function describe(error: unknown): TemplateError | undefined {
  const mismatch = Mismatch.safeParse(error).data;
  if (mismatch) {
    const { message, lineNumber, column } = mismatch;
    return new TemplateError(message.replace(/ - \d+:\d+$/, ""), { line: lineNumber, column: column + 1 });
  }
  const unexpected = Unexpected.safeParse(error).data?.hash;
  if (!unexpected) return undefined;
  const place = { line: unexpected.loc.last_line, column: unexpected.loc.last_column + 1 };
  return new TemplateError(unexpected.token === "EOF" ? "A block is not closed" : `Unexpected ${unexpected.text}`, place);
}

function nodesOf(statements: unknown[]): TemplateNode[] {
  return statements.flatMap(nodeOf);
}

function nodeOf(statement: unknown): TemplateNode[] {
  const known = Statement.safeParse(statement).data;
  if (!known) throw unsupported(statement, "Only variables, #if, #unless, #each, #with and comments are supported");
  switch (known.type) {
    case "ContentStatement":
      return known.value === "" ? [] : [{ kind: "text", text: known.value }];
    case "CommentStatement":
      return [];
    case "MustacheStatement":
      if (known.params.length > 0 || known.hash) throw unsupported(statement, `There is no helper "${known.path.original}"`);
      return [{ kind: "value", path: pathOf(known.path) }];
    case "BlockStatement":
      return [blockOf(statement, known)];
  }
}

function blockOf(statement: unknown, block: Extract<z.output<typeof Statement>, { type: "BlockStatement" }>): TemplateNode {
  const kind = Blocks.safeParse(block.path.original).data;
  if (!kind) throw unsupported(statement, `There is no block "${block.path.original}"; use #if, #unless, #each or #with`);
  const [param, ...others] = block.params;
  const path = PathExpression.safeParse(param).data;
  const named = [block.program, block.inverse].some((program) => (program?.blockParams.length ?? 0) > 0);
  if (!path || others.length > 0 || block.hash || named) throw unsupported(statement, `#${kind} takes one variable and nothing else`);
  return { kind, path: pathOf(path), body: nodesOf(block.program?.body ?? []), otherwise: nodesOf(block.inverse?.body ?? []) };
}

function pathOf({ data, depth, parts }: z.output<typeof PathExpression>): Path {
  return { data, depth, parts };
}

function unsupported(statement: unknown, message: string): TemplateError {
  const place = z.object({ loc: Location }).safeParse(statement).data?.loc.start;
  return new TemplateError(message, place && { line: place.line, column: place.column + 1 });
}
