import { escapeHtml } from "./template.ts";
import type { Block, Path, Template, TemplateNode } from "./parse.ts";
import { TemplateError } from "./scan.ts";

/** Limits of rendering: a step is a node, a loop iteration or a path segment; output is in characters. */
export const RENDER_LIMITS = { steps: 50_000, output: 256 * 1024 } as const;

/** Where a variable is resolved: the context, the outer ones, and the `@` variables of the loops. */
interface Scope {
  context: unknown;
  outer: Scope | undefined;
  data: Frame;
}

interface Frame {
  values: Record<string, unknown>;
  outer: Frame | undefined;
}

/** Renders a template with plain data. Escapes values for HTML unless disabled; only own properties are accessible. */
export function renderTemplate(template: Template, data: Record<string, unknown>, { escape = true } = {}): string {
  const renderer = new Renderer(escape ? escapeHtml : (text) => text);
  renderer.write(template, { context: data, outer: undefined, data: { values: { root: data }, outer: undefined } });
  return renderer.output;
}

class Renderer {
  output = "";
  #steps = 0;
  readonly #escape: (text: string) => string;

  constructor(escape: (text: string) => string) {
    this.#escape = escape;
  }

  write(nodes: TemplateNode[], scope: Scope): void {
    for (const node of nodes) {
      this.#step();
      switch (node.kind) {
        case "text":
          this.#append(node.text);
          break;
        case "value":
          this.#append(this.#escape(textOf(this.#resolve(node.path, scope))));
          break;
        case "if":
          this.write(isEmpty(this.#resolve(node.path, scope), true) ? node.otherwise : node.body, scope);
          break;
        case "unless":
          this.write(isEmpty(this.#resolve(node.path, scope), true) ? node.body : node.otherwise, scope);
          break;
        case "with":
          this.#writeWith(this.#resolve(node.path, scope), node, scope);
          break;
        case "each":
          this.#writeEach(this.#resolve(node.path, scope), node, scope);
      }
    }
  }

  #writeWith(context: unknown, { body, otherwise }: Block, scope: Scope): void {
    if (isEmpty(context)) this.write(otherwise, scope);
    else this.write(body, inner(scope, context, scope.data));
  }

  #writeEach(items: unknown, { body, otherwise }: Block, scope: Scope): void {
    const entries: [string, unknown][] = typeof items === "object" && items !== null ? Object.entries(items) : [];
    const isList = Array.isArray(items);
    for (const [index, [key, item]] of entries.entries()) {
      this.#step();
      const loop = { key: isList ? index : key, index, first: index === 0, last: index === entries.length - 1 };
      this.write(body, inner(scope, item, { values: { ...scope.data.values, ...loop }, outer: scope.data }));
    }
    if (entries.length === 0) this.write(otherwise, scope);
  }

  #resolve({ data, depth, parts }: Path, scope: Scope): unknown {
    this.#step(depth + parts.length);
    let value = data ? up(scope.data, depth)?.values : up(scope, depth)?.context;
    for (const part of parts) value = ownProperty(value, part);
    return value;
  }

  #step(count = 1): void {
    this.#steps += count;
    if (this.#steps > RENDER_LIMITS.steps) throw new TemplateError(`Rendering the template takes more than ${RENDER_LIMITS.steps} steps`);
  }

  #append(text: string): void {
    if (this.output.length + text.length > RENDER_LIMITS.output) {
      throw new TemplateError(`The rendered template has more than ${RENDER_LIMITS.output} characters`);
    }
    this.output += text;
  }
}

/** As in Handlebars, `../` only leaves a block that changed the context. */
function inner(scope: Scope, context: unknown, data: Frame): Scope {
  return context === scope.context ? { ...scope, data } : { context, outer: scope, data };
}

function up<T extends { outer: T | undefined }>(from: T, levels: number): T | undefined {
  let at: T | undefined = from;
  for (let level = 0; at && level < levels; level += 1) at = at.outer;
  return at;
}

function ownProperty(value: unknown, name: string): unknown {
  if (value === null || value === undefined) return undefined;
  return Object.getOwnPropertyDescriptor(Object(value), name)?.value;
}

/** Null, undefined, false, "" and empty lists; in a condition also 0. */
function isEmpty(value: unknown, condition = false): boolean {
  return Array.isArray(value) ? value.length === 0 : !value && (condition || value !== 0);
}

/** The text of a value; lists and objects print nothing. */
function textOf(value: unknown): string {
  return typeof value === "string" || typeof value === "number" || typeof value === "boolean" ? String(value) : "";
}
