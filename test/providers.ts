import { env } from "cloudflare:workers";
import { z } from "@hono/zod-openapi";
import { newId, toHex } from "#worker/lib/ids.ts";
import { EXAMPLE_SCHEMA, RegisteredDataProvider } from "#worker/services/data-providers/schemas.ts";
import { CreatedRule } from "#worker/services/automation-rules/schemas.ts";
import { Overlay } from "#worker/services/overlays/schemas.ts";
import type { ApiResponse, TestSite } from "./harness.ts";
import { siteStore } from "#test/site-store.ts";

// An external data provider, which knows its secret and signs its events.

export interface TestProvider {
  id: string;
  secret: string;
}

export function dataProviderInput(change: Record<string, unknown> = {}): Record<string, unknown> {
  return {
    name: "Match data",
    description: "Goals and the clock",
    schema: EXAMPLE_SCHEMA,
    ownerName: "Pitchside Data",
    ownerEmail: "desk@pitchside.example",
    realtime: true,
    ...change,
  };
}

export async function newDataProvider(site: TestSite, change: Record<string, unknown> = {}): Promise<TestProvider> {
  const response = await site.call("registerDataProvider", { body: dataProviderInput(change) });
  const { dataProviderId, secret } = response.as(RegisteredDataProvider);
  return { id: dataProviderId, secret };
}

/** The signature headers for this content, with a timestamp (in seconds) unless it is null. */
export async function signatureOf(
  secret: string,
  content: string,
  timestamp: number | null = Math.floor(Date.now() / 1000),
): Promise<Record<string, string>> {
  const text = new TextEncoder();
  const key = await crypto.subtle.importKey("raw", text.encode(secret), { name: "HMAC", hash: "SHA-256" }, false, ["sign"]);
  const signed = text.encode(timestamp === null ? content : `${timestamp}.${content}`);
  const signature = toHex(new Uint8Array(await crypto.subtle.sign("HMAC", key, signed)));
  return { "Tifo-Signature": signature, ...(timestamp === null ? {} : { "Tifo-Timestamp": String(timestamp) }) };
}

/** Sends an event as the provider. */
export async function sendProviderEvent(
  site: TestSite,
  provider: TestProvider,
  event: unknown,
  headers: Record<string, string> = {},
): Promise<ApiResponse> {
  return site.call("ingestProviderEvent", {
    as: "client",
    params: { providerId: provider.id },
    body: event,
    headers: { ...(await signatureOf(provider.secret, JSON.stringify(event))), ...headers },
  });
}

/** An event that matches the example schema. */
export function goal(home: number, change: Record<string, unknown> = {}): Record<string, unknown> {
  return { match: { minute: 17, scorer: "Ada Moreno", score: { home, away: 0 }, ...change } };
}

export async function newTemplate(site: TestSite, html = "{{scorer}}"): Promise<string> {
  const contents = [{ kind: "html", html, position: "bottomCenter" }];
  const body = { name: "Goal", description: "", siteId: site.id, type: "template", duration: 600, contents };
  return (await site.call("createOverlay", { body })).as(Overlay)._id;
}

const ON_GOAL = { fact: "match.score.home", operator: "greater_than", value: 0, behavior: "immediate" };

export interface RuleChange {
  trigger?: Record<string, unknown>;
  targeting?: Record<string, unknown>;
  action?: Record<string, unknown>;
  [field: string]: unknown;
}

/** A rule's body: by default, a home goal shows the template on the first channel. */
export function ruleOf(
  site: TestSite,
  provider: TestProvider,
  templateId: string,
  { trigger, targeting, action, ...rule }: RuleChange = {},
): Record<string, unknown> {
  return {
    name: "Home goal",
    channelId: site.channels[0],
    jsonRule: {
      trigger: { dataProviderId: provider.id, ...ON_GOAL, ...trigger },
      action: {
        type: "SEND_OVERLAY",
        targeting: { scope: "channel", segment: "viewers_all", priority: 5, ...targeting },
        templateId,
        variableMapping: { scorer: { type: "dynamic", value: "match.scorer" } },
        ...action,
      },
    },
    ...rule,
  };
}

export async function newRule(site: TestSite, body: Record<string, unknown>): Promise<string> {
  return (await site.call("createAutomationRule", { body })).as(CreatedRule).id;
}

/** Inserts this many copies of a rule into the database, without events. */
export async function copyRule(id: string, count: number): Promise<void> {
  const columns = "site_id, name, channel_id, json_rule, active, client_rule, created, modified, version";
  const insert = `INSERT INTO automation_rules (id, ${columns}) SELECT value, ${columns} FROM automation_rules, json_each(?) WHERE automation_rules.id = ?`;
  const ids = Array.from({ length: count }, () => newId(Date.now()));
  await siteStore.prepare(insert).bind(JSON.stringify(ids), id).run();
}

/** A rule whose provider and template exist, for the contract test. */
export async function liveJsonRule(site: TestSite): Promise<unknown> {
  const body = ruleOf(site, await newDataProvider(site), await newTemplate(site));
  return z.object({ jsonRule: z.unknown() }).parse(body).jsonRule;
}

/** The object that evaluates the site's rules. */
export function automation(site: TestSite) {
  return env.AUTOMATION.getByName(site.id);
}
