import { createServer, type IncomingMessage } from "node:http";
import { z } from "@hono/zod-openapi";
import type { TestProject } from "vitest/node";

// A stand-in for a translator (the `/translate` endpoint of LibreTranslate) and for an automatic moderator (`/guard`). Both hang on texts
// that contain "hang" and fail on texts that contain "fail".

const Translation = z.object({ q: z.array(z.string()), source: z.literal("auto"), target: z.string(), format: z.literal("text") });
const Guarded = z.strictObject({ text: z.string() });

/** Starts one server for all tests of a project. */
export default async function setup(project: TestProject): Promise<() => Promise<void>> {
  const server = createServer((request, response) => {
    void respond(request).then((answer) => {
      if (!answer) return;
      response.writeHead(answer.status, { "Content-Type": "application/json" });
      response.end(JSON.stringify(answer.body));
    });
  });
  await new Promise<void>((resolve) => server.listen(0, "127.0.0.1", resolve));
  const address = server.address();
  if (address === null || typeof address === "string") throw new Error("The language server isn't listening on a port");
  project.provide("languageServer", `http://127.0.0.1:${address.port}`);
  return () =>
    new Promise((resolve) => {
      server.close(() => resolve());
      server.closeAllConnections();
    });
}

async function respond(request: IncomingMessage): Promise<{ status: number; body: unknown } | null> {
  let text = "";
  for await (const chunk of request) text += String(chunk);
  if (text.includes("hang")) return null;
  if (text.includes("fail")) return { status: 500, body: { error: "Failed" } };
  const body: unknown = JSON.parse(text);
  if (request.url === "/guard") return { status: 200, body: { flagged: Guarded.parse(body).text.includes("doubtful") } };
  const { q, target } = Translation.parse(body);
  return { status: 200, body: { translatedText: q.map((original) => `${target}: ${original}`) } };
}
