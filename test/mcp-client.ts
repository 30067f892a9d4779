import { exports } from "cloudflare:workers";
import { z } from "@hono/zod-openapi";
import { ORIGIN } from "#test/harness.ts";

const Message = z.object({ result: z.unknown(), error: z.object({ code: z.number(), message: z.string() }).optional() });
const ToolResult = z.object({
  content: z.tuple([z.object({ type: z.literal("text"), text: z.string() })]),
  isError: z.boolean().default(false),
});

/** A tool's result: its text, and whether it reports an error. */
export interface ToolText {
  text: string;
  isError: boolean;
}

/** Sends one JSON-RPC request the way a client of any make does: no SDK, no session. */
export async function rpc(method: string, params: unknown, headers: Record<string, string> = {}): Promise<z.infer<typeof Message>> {
  const response = await exports.default.fetch(`${ORIGIN}/mcp`, {
    method: "POST",
    headers: { "Content-Type": "application/json", Accept: "application/json, text/event-stream", ...headers },
    body: JSON.stringify({ jsonrpc: "2.0", id: 1, method, params }),
  });
  const text = await response.text();
  const data = /^data: (.*)$/m.exec(text)?.[1] ?? text;
  return Message.parse(JSON.parse(data));
}

export async function callTool(name: string, input: unknown, headers: Record<string, string> = {}): Promise<ToolText> {
  const { result, error } = await rpc("tools/call", { name, arguments: input }, headers);
  if (error) return { text: error.message, isError: true };
  const { content, isError } = ToolResult.parse(result);
  return { text: content[0].text, isError };
}

/** The code that a write asks to be repeated with. */
export function confirmationIn({ text }: ToolText): string {
  return /"confirmation": "([^"]+)"/.exec(text)?.[1] ?? "";
}
