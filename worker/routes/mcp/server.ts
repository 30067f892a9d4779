import { z } from "@hono/zod-openapi";
import {
  acceptedContent,
  type CallToolResult,
  CLIENT_CAPABILITIES_META_KEY,
  createMcpHandler,
  inputRequired,
  type InputRequiredResult,
  McpServer,
  type ServerContext,
} from "@modelcontextprotocol/server";
import type { Context } from "hono";
import type { AppEnv } from "#worker/http/app-env.ts";
import { clip } from "#worker/lib/well-formed.ts";
import { Catalogue, declarationOf, type ListedOperation, notCallable } from "./catalogue.ts";
import type { InProcessApi } from "./mount.ts";
import { type CallInput, confirmationOf, isConfirmed, once, requestOf } from "./request.ts";
import { responseText } from "./response-text.ts";

const INSTRUCTIONS =
  "Tifo's Content API: audience engagement for live video (channels, overlays, polls, chat, quests). Search for an operation, search its exact operationId for its schema, then call it. Calls have the rights of the key or account in this connection's headers.";

const SearchInput = z.object({
  query: z.string().min(1).max(200).describe("What to do, in a few words; or an exact operationId, for its parameters, body and schemas"),
  limit: z.number().int().min(1).max(20).default(8),
});

const CallInputSchema = z.object({
  operationId: z.string().max(100),
  path: z
    .record(z.string(), z.union([z.string(), z.number()]))
    .optional()
    .describe("Path parameters by name"),
  query: z.record(z.string(), z.unknown()).optional().describe("Query parameters; objects are sent as JSON"),
  body: z.unknown().optional().describe("The JSON body"),
  confirmation: z.string().max(300).optional().describe("From the response to the same call, once the user has agreed to the change"),
});

const Agreement = z.object({ agree: z.boolean() });

/** The catalogue of each API: one, except in tests. */
const catalogues = new WeakMap<object, Catalogue>();

/** Serves one request of an MCP client, without a session: every request has its own credentials. */
export async function serveMcp(api: InProcessApi, c: Context<AppEnv>): Promise<Response> {
  const catalogue = catalogues.get(api) ?? new Catalogue(await api.whole());
  catalogues.set(api, catalogue);
  const handler = createMcpHandler(() => createServer(api, c, catalogue), { responseMode: "json", maxSubscriptions: 1 });
  return handler.fetch(c.req.raw);
}

function createServer(api: InProcessApi, c: Context<AppEnv>, catalogue: Catalogue): McpServer {
  const server = new McpServer({ name: "tifo", version: "2.0.0" }, { instructions: INSTRUCTIONS, maxToolInputElements: 20_000 });
  server.registerTool(
    "search_operations",
    {
      title: "Search the API",
      description: "Finds operations of the API by what they do. An exact operationId returns its declaration with schemas.",
      inputSchema: SearchInput,
      annotations: { readOnlyHint: true, openWorldHint: false },
    },
    ({ query, limit }) => textResult(search(catalogue, query, limit)),
  );
  server.registerTool(
    "call_operation",
    {
      title: "Call an operation",
      description:
        "Calls an operation and returns its status and body. Anything but GET isn't sent at first: the response describes the change and contains a code for `confirmation`. Show the change to the user; call again with the code only if they agree.",
      inputSchema: CallInputSchema,
      annotations: { readOnlyHint: false, destructiveHint: true, openWorldHint: false },
    },
    (input, ctx) => new OperationCall(api, c, ctx).run(catalogue.get(input.operationId), input),
  );
  return server;
}

function search(catalogue: Catalogue, query: string, limit: number): string {
  const exact = catalogue.get(query.trim());
  if (exact) return JSON.stringify(declarationOf(exact));
  const found = catalogue.search(query, limit);
  if (found.length === 0)
    return "No operation matches. Try other words: the nouns are channel (page), overlay, poll, quest, panel, account, stream.";
  return found.map(({ operationId, method, path, summary }) => `${operationId}: ${method} ${path}: ${summary}`).join("\n");
}

/** One call of an operation by a tool. */
class OperationCall {
  readonly #api: InProcessApi;
  readonly #c: Context<AppEnv>;
  readonly #ctx: ServerContext;

  constructor(api: InProcessApi, c: Context<AppEnv>, ctx: ServerContext) {
    this.#api = api;
    this.#c = c;
    this.#ctx = ctx;
  }

  async run(
    operation: ListedOperation | undefined,
    input: CallInput & { confirmation?: string | undefined },
  ): Promise<CallToolResult | InputRequiredResult> {
    if (!operation) return errorResult(`There is no operation ${input.operationId}. Use search_operations.`);
    const reason = notCallable(operation);
    if (reason !== undefined) return errorResult(`${operation.operationId} can't be called by a tool: ${reason}.`);
    const request = requestOf(operation, input, this.#c);
    if (typeof request === "string") return errorResult(request);
    if (operation.method === "GET") return this.#send(request);
    return this.#write(operation, request, input);
  }

  async #write(
    operation: ListedOperation,
    request: Request,
    input: CallInput & { confirmation?: string | undefined },
  ): Promise<CallToolResult | InputRequiredResult> {
    // Set by whoever configures the client, not by the model.
    const mode = this.#c.req.header("Tifo-Mcp-Writes") ?? "confirm";
    if (mode === "allow") return this.#send(request);
    if (mode !== "confirm") return errorResult("This connection may only read: its `Tifo-Mcp-Writes` header forbids changes.");
    const canAsk = this.#canAsk();
    const code = canAsk ? this.#agreed() : input.confirmation;
    if (code !== undefined) {
      if (await isConfirmed(this.#c.env, request, code)) return this.#send(await once(request, code));
      return errorResult("The confirmation is for another request, or older than 10 minutes. Call again without it.");
    }
    const confirmation = await confirmationOf(this.#c.env, request);
    const change = `${operation.summary}: ${operation.method} ${new URL(request.url).pathname}${await bodyText(request)}`;
    if (canAsk && !this.#wasAsked()) {
      const ask = inputRequired.elicit({ message: `Allow this change? ${change}`, requestedSchema: Agreement });
      return inputRequired({ inputRequests: { agreement: ask }, requestState: confirmation });
    }
    if (canAsk) return errorResult("The user didn't agree. Nothing was sent.");
    return textResult(`Not sent yet. ${change}\n\nAsk the user. If they agree, repeat this call with "confirmation": "${confirmation}".`);
  }

  /** Whether the client can show the user a question. */
  #canAsk(): boolean {
    const envelope = z.record(z.string(), z.unknown()).parse(this.#ctx.mcpReq.envelope ?? {});
    const capabilities = envelope[CLIENT_CAPABILITIES_META_KEY];
    return typeof capabilities === "object" && capabilities !== null && "elicitation" in capabilities;
  }

  /** The code of the request that the user has agreed to, where the client asked them. */
  #agreed(): string | undefined {
    const answer = acceptedContent(this.#ctx.mcpReq.inputResponses, "agreement", Agreement);
    return answer?.agree === true ? (this.#ctx.mcpReq.requestState<string>() ?? "") : undefined;
  }

  #wasAsked(): boolean {
    return this.#ctx.mcpReq.inputResponses?.agreement !== undefined;
  }

  /** In process, through the same middleware as any request: credentials, roles and limits apply. */
  async #send(request: Request): Promise<CallToolResult> {
    const response = await this.#api.fetch(request, this.#c.env, this.#c.executionCtx);
    const text = await responseText(response);
    return response.status < 400 ? textResult(text) : errorResult(text);
  }
}

async function bodyText(request: Request): Promise<string> {
  const body = await request.clone().text();
  return body === "" ? "" : ` ${clip(body, 2000)}`;
}

function textResult(text: string): CallToolResult {
  return { content: [{ type: "text", text }] };
}

function errorResult(text: string): CallToolResult {
  return { ...textResult(text), isError: true };
}
