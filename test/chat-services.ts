import type { IncomingMessage, ServerResponse } from "node:http";
import { z } from "@hono/zod-openapi";
import type { TestProject } from "vitest/node";
import { type LocalService, readText, sendJson, startLocalService } from "./local-service.ts";

// A stand-in for the services that a chat may use: an HTTP server that translates like LibreTranslate and moderates, for any number of
// customers, which the first path segment identifies. PUT /<customer>/behaviour configures how it behaves, GET /<customer>/calls returns
// what it received.

/** How calls behave: "slow" responds once the behaviour is set again, "short" with too few translations. */
export const BEHAVIOURS = ["succeed", "fail", "reject", "garbage", "flood", "redirect", "hang", "slow", "short"] as const;
export type Behaviour = (typeof BEHAVIOURS)[number];

/** A call as received; `path` shows followed redirects. */
export const SeenCall = z.object({ path: z.string(), authorization: z.string(), body: z.unknown() });
export type SeenCall = z.infer<typeof SeenCall>;

const TranslateBody = z.strictObject({
  q: z.array(z.string()).min(1),
  source: z.literal("auto"),
  target: z.string().regex(/^[a-z]{2,3}$/),
  format: z.literal("text"),
  api_key: z.string().optional(),
});
const GuardBody = z.strictObject({ text: z.string() });

interface Customer {
  behaviour: Behaviour;
  calls: SeenCall[];
  /** Responses that are being delayed. */
  delayed: (() => void)[];
}

/** Starts the services on a port of the loopback address, any free one by default. */
export function startChatServices(port = 0): Promise<LocalService> {
  const customers = new Map<string, Customer>();
  return startLocalService((request, response) => handle(customers, request, response), { port, failure: 400 });
}

/** Starts the services for all tests of a project. */
export default async function setup(project: TestProject): Promise<() => Promise<void>> {
  const services = await startChatServices();
  project.provide("chatServices", services.url);
  return () => services.stop();
}

async function handle(customers: Map<string, Customer>, request: IncomingMessage, response: ServerResponse): Promise<void> {
  const [, name = "", path = ""] = (request.url ?? "").split("/");
  const customer = customers.get(name) ?? { behaviour: "succeed", calls: [], delayed: [] };
  customers.set(name, customer);
  const text = await readText(request);
  if (path === "calls") return sendJson(response, 200, customer.calls);
  const body: unknown = JSON.parse(text);
  if (path === "behaviour") {
    customer.behaviour = z.enum(BEHAVIOURS).parse(body);
    for (const respond of customer.delayed.splice(0)) respond();
    return sendJson(response, 204);
  }
  customer.calls.push({ path, authorization: request.headers.authorization ?? "", body });
  if (request.method !== "POST") return sendJson(response, 405, { error: "Only POST" });
  const result = path === "translate" ? translate(TranslateBody.parse(body), customer) : moderate(GuardBody.parse(body));
  behave(customer, response, result, name);
}

function behave(customer: Customer, response: ServerResponse, result: unknown, name: string): void {
  switch (customer.behaviour) {
    case "succeed":
    case "short":
      return sendJson(response, 200, result);
    case "fail":
      return sendJson(response, 503, { error: "Out of order" });
    case "reject":
      return sendJson(response, 403, { error: "Invalid API key" });
    case "garbage":
      return void response.writeHead(200, { "Content-Type": "text/html" }).end("<h1>Welcome</h1>");
    case "flood":
      return void response.writeHead(200).end(JSON.stringify({ padding: "a".repeat(2_000_000) }));
    case "redirect":
      return void response.writeHead(307, { Location: `/${name}/moved` }).end();
    case "hang":
      return;
    case "slow":
      return void customer.delayed.push(() => sendJson(response, 200, result));
  }
}

/** "Hello" becomes "[de] Hello"; "" and overlong texts stand for unusable translations. */
function translate({ q, target }: z.infer<typeof TranslateBody>, { behaviour }: Customer) {
  const texts = behaviour === "short" ? q.slice(1) : q;
  return {
    translatedText: texts.map((text) => (text === "empty" ? "" : `[${target}] ${text === "long" ? "a".repeat(5_000) : text}`)),
    detectedLanguage: texts.map((text) => ({ confidence: 90, language: detect(text) })),
  };
}

function detect(text: string): string {
  if (/\bbonjour\b/i.test(text)) return "fr";
  return /\bguten tag\b/i.test(text) ? "de" : "en";
}

function moderate({ text }: z.infer<typeof GuardBody>) {
  return /\bbomb\b/i.test(text) ? { flagged: true, category: "violence" } : { flagged: false };
}
