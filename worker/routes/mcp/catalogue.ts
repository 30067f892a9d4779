import { OpenAPIHono, type RouteConfig } from "@hono/zod-openapi";
import MiniSearch from "minisearch";
import type { AppEnv } from "#worker/http/app-env.ts";

/** An operation as tools name it. */
export interface ListedOperation {
  operationId: string;
  method: string;
  path: string;
  summary: string;
  /** The names of its sets of credentials, any one of which suffices. */
  security: string[][];
  route: RouteConfig;
}

/** Words that say nothing about an operation. */
const IGNORED = new Set(
  "a an and are at by can do does for from how i in is it me my of on or our that the there this to we what which with".split(" "),
);

/** Streams, which never end. */
const STREAMS = new Set(["connectToChannel", "streamChannel"]);
/** Credentials that a tool's caller can send. */
const SENDABLE = new Set(["client", "clientQuery", "developer", "bearer", "device"]);

/** All operations of the app, searchable. Read from the routes themselves, so it always matches what is deployed. */
export class Catalogue {
  readonly #operations = new Map<string, ListedOperation>();
  readonly #index = new MiniSearch({
    fields: ["operationId", "name", "summary", "tag", "path", "description"],
    processTerm: (term) => (IGNORED.has(term.toLowerCase()) ? null : stem(term.toLowerCase())),
    searchOptions: {
      boost: { operationId: 8, summary: 4, name: 3, tag: 2, path: 2 },
      prefix: (term) => term.length > 3,
      fuzzy: (term) => (term.length > 5 ? 0.2 : false),
    },
  });

  constructor(app: OpenAPIHono<AppEnv>) {
    for (const definition of app.openAPIRegistry.definitions) {
      if (definition.type !== "route") continue;
      const { route } = definition;
      const { operationId = "", method, path, summary = "", description = "", tags = [], security = [] } = route;
      this.#operations.set(operationId, {
        operationId,
        method: method.toUpperCase(),
        path,
        summary,
        security: security.map((set) => Object.keys(set)),
        route,
      });
      const name = operationId.replaceAll(/[A-Z]/g, " $&");
      this.#index.add({ id: operationId, operationId, name, summary, tag: tags.join(" "), path, description });
    }
  }

  get(operationId: string): ListedOperation | undefined {
    return this.#operations.get(operationId);
  }

  /** The best matches for a question, the best first. */
  search(query: string, limit: number): ListedOperation[] {
    return this.#index
      .search(query.replaceAll(/\b(find|search|which|who|all)\b/gi, "list"))
      .slice(0, limit)
      .flatMap(({ id }) => this.#operations.get(String(id)) ?? []);
  }
}

/** Why a tool can't call an operation; undefined if it can. */
export function notCallable({ operationId, security, route }: ListedOperation): string | undefined {
  if (STREAMS.has(operationId)) return "it is a stream";
  if (route.request?.body?.content["multipart/form-data"]) return "it takes a file";
  if (!security.some((kinds) => kinds.every((kind) => SENDABLE.has(kind)))) return "it needs a credential that isn't sent through tools";
  return undefined;
}

/** The operation's part of the OpenAPI document, with the schemas that it uses and without those of errors. */
export function declarationOf({ operationId, method, path, route }: ListedOperation): Record<string, unknown> {
  const responses = Object.entries(route.responses).filter(([status]) => Number(status) < 400);
  const single = new OpenAPIHono();
  single.openAPIRegistry.registerPath({ ...route, parameters: [], responses: Object.fromEntries(responses) });
  const { paths, components } = single.getOpenAPIDocument({ openapi: "3.0.3", info: { title: "", version: "" } });
  const [item = {}] = Object.values(paths);
  const errors = Object.keys(route.responses).filter((status) => Number(status) >= 400);
  return {
    operationId,
    method,
    path,
    ...pick(item.get ?? item.post ?? item.put ?? item.patch ?? item.delete, [
      "summary",
      "description",
      "security",
      "parameters",
      "requestBody",
      "responses",
    ]),
    errors: errors.map(Number),
    schemas: components?.schemas ?? {},
  };
}

function pick(from: unknown, names: readonly string[]): Record<string, unknown> {
  const entries: [string, unknown][] = Object.entries(typeof from === "object" && from !== null ? from : {});
  return Object.fromEntries(entries.filter(([name]) => names.includes(name)));
}

/** Plural and singular match. */
function stem(term: string): string {
  return term.length > 3 && term.endsWith("s") && !term.endsWith("ss") ? term.slice(0, -1) : term;
}
