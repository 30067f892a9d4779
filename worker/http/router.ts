import type { ParamIndexMap, Result, Router } from "hono/router";

type Handlers<T> = [T, ParamIndexMap][];

/** A node in the tree of one method's paths, one level per segment. */
interface TreeNode<T> {
  fixed: Map<string, TreeNode<T>>;
  /** The child for a parameter, which matches any segment. */
  parameter?: TreeNode<T>;
  handlers?: Handlers<T>;
}

/**
 * Matches a path segment by segment, fixed segments before parameters. Hono's fast router doesn't support a fixed segment beside a
 * parameter, as in `/page/v2/channel` and `/page/v2/:id`, and the router that does costs a tenth of a whole request.
 * Accepts middleware for all paths ("/*"), added before every route, and routes of whole segments.
 */
export class PathRouter<T> implements Router<T> {
  readonly name = "PathRouter";
  readonly #middleware: { method: string; handler: T }[] = [];
  readonly #trees = new Map<string, TreeNode<T>>();

  add(method: string, path: string, handler: T): void {
    if (path === "/*") {
      if (this.#trees.size > 0) throw new Error("Middleware must be added before every route");
      this.#middleware.push({ method, handler });
      return;
    }
    if (method === "ALL" || path.includes("*")) throw new Error(`A route must have one method and whole segments: ${method} ${path}`);
    const params: ParamIndexMap = {};
    let node = this.#tree(method);
    for (const segment of path.split("/")) {
      if (!segment.startsWith(":")) {
        node = childOf(node, segment);
        continue;
      }
      params[segment.slice(1)] = Object.keys(params).length;
      node = node.parameter ??= { fixed: new Map() };
    }
    node.handlers ??= this.#middlewareFor(method);
    node.handlers.push([handler, params]);
  }

  match(method: string, path: string): Result<T> {
    const tree = this.#trees.get(method);
    const values: string[] = [];
    const handlers = tree && find(tree, path.split("/"), 0, values);
    return [handlers ?? this.#middlewareFor(method), values];
  }

  #tree(method: string): TreeNode<T> {
    const tree = this.#trees.get(method) ?? { fixed: new Map() };
    this.#trees.set(method, tree);
    return tree;
  }

  #middlewareFor(method: string): Handlers<T> {
    return this.#middleware.filter((each) => each.method === "ALL" || each.method === method).map(({ handler }) => [handler, {}]);
  }
}

function childOf<T>(node: TreeNode<T>, segment: string): TreeNode<T> {
  const child = node.fixed.get(segment) ?? { fixed: new Map() };
  node.fixed.set(segment, child);
  return child;
}

/** The handlers at the end of these segments; the values of the parameters are added to `values`. */
function find<T>(node: TreeNode<T>, segments: string[], at: number, values: string[]): Handlers<T> | undefined {
  const segment = segments[at];
  if (segment === undefined) return node.handlers;
  const fixed = node.fixed.get(segment);
  const found = fixed && find(fixed, segments, at + 1, values);
  if (found || !node.parameter || segment === "") return found;
  values.push(segment);
  const other = find(node.parameter, segments, at + 1, values);
  if (!other) values.pop();
  return other;
}
