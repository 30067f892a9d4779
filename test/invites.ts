import { exports } from "cloudflare:workers";
import { expect } from "vitest";
import { z } from "@hono/zod-openapi";
import { type ApiResponse, ORIGIN, type TestSite } from "./harness.ts";
import { randomHex } from "#worker/lib/ids.ts";
import { Account } from "#worker/services/accounts/schemas.ts";
import { ConsumedIntent } from "#worker/services/auth/schemas.ts";
import { EventList } from "#worker/services/webhooks/schemas.ts";
import { Invite } from "#worker/services/invites/schemas.ts";

/** Opens an invite's link as a browser would. */
export function openMagicLink(token: string, headers: Record<string, string> = {}, method = "GET"): Promise<Response> {
  return exports.default.fetch(`${ORIGIN}/invite/v1/magic-link/${token}`, {
    method,
    redirect: "manual",
    headers: { "CF-Connecting-IP": `192.0.2.${randomHex(4)}`, ...headers },
  });
}

/** Opens a link and returns its intent. */
export async function intentOf(token: string): Promise<string> {
  const response = await openMagicLink(token);
  expect(response.status).toBe(302);
  return new URL(response.headers.get("Location") ?? "").searchParams.get("intent") ?? "";
}

export async function problemOf(response: Response): Promise<{ status: number; message: string }> {
  const { message } = z.object({ message: z.string() }).parse(await response.json());
  return { status: response.status, message };
}

/** Invite calls for tests. `site` is a function because suites create their site in `beforeAll`. */
export function inviteCalls(site: () => TestSite) {
  function create(change: Record<string, unknown> = {}): Promise<ApiResponse> {
    const body = { redirectUri: "https://demo.example/welcome?from=email", siteId: site().id, targetSkus: ["vip"], ...change };
    return site().call("createInvite", { body });
  }

  async function newInvite(change: Record<string, unknown> = {}) {
    return (await create(change)).as(Invite);
  }

  async function reread(id: string) {
    return (await site().call("getInvite", { params: { id } })).as(Invite);
  }

  function redeem(intent: string): Promise<ApiResponse> {
    return site().call("consumeIntent", { as: "client", params: { token: intent } });
  }

  /** Redeems an intent and returns the account that it signs in. */
  async function signedIn(intent: string): Promise<{ account: z.output<typeof Account>; headers: Record<string, string> }> {
    const { jwt } = (await redeem(intent)).as(ConsumedIntent);
    const { sub = "" } = z.object({ sub: z.string() }).parse(JSON.parse(atob(jwt.split(".")[1] ?? "")));
    const headers = { Authorization: `Bearer ${jwt}` };
    const account = (await site().call("getAccount", { as: "client", params: { id: sub }, headers })).as(Account);
    return { account, headers };
  }

  async function eventsOf(id: string): Promise<string[]> {
    const { results } = (await site().call("listEvents", { query: { limit: 200 } })).as(EventList);
    return results.filter((event) => event.resource === `invite/${id}`).map((event) => event.type);
  }

  return { create, newInvite, reread, redeem, signedIn, eventsOf };
}
