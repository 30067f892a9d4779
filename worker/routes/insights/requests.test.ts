import { env, exports } from "cloudflare:workers";
import { describe, expect, test, vi } from "vitest";
import type { z } from "@hono/zod-openapi";
import { type CallOptions, newSite, ORIGIN, type TestSite } from "#test/harness.ts";
import { Api } from "#worker/app.ts";
import { schedulerOf } from "#worker/durable-objects/stubs.ts";
import { newId } from "#worker/lib/ids.ts";
import { RequestList } from "#worker/services/insights/request-schemas.ts";

async function read(site: TestSite, query: CallOptions["query"] = {}): Promise<z.output<typeof RequestList>> {
  return (await site.call("listRequests", { query })).as(RequestList);
}

/** The log, once it has this many requests. */
function waitForRequests(site: TestSite, requests: number): Promise<z.output<typeof RequestList>> {
  return vi.waitFor(async () => {
    const list = await read(site);
    expect(list.requests).toBe(requests);
    return list;
  });
}

describe("the request log of a site", () => {
  test("has what each caller of this site did, and nothing that identifies a person or a thing", async () => {
    const [site, other] = [await newSite(), await newSite()];
    const [channelId] = site.channels;
    const secret = "not-for-the-log";
    const requestId = "test.of-the-request-log";
    await site.call("getPage", { params: { id: channelId }, as: "client", headers: { "Tifo-Request-Id": requestId } });
    await site.call("getPage", { params: { id: newId(1) } });
    await site.call("createTicket", { as: "viewer", body: { channelId } });
    await site.call("createOverlay", { as: "viewer", body: { name: secret } });
    await site.call("createOverlay", { as: "developer", body: { name: secret }, headers: { "Tifo-Developer-Key": secret } });
    await exports.default.fetch(`${ORIGIN}/page/v9/${secret}?q=${secret}`, { headers: await site.headersOf("client") });
    await exports.default.fetch(`${ORIGIN}/page/v2`, { method: "OPTIONS", headers: await site.headersOf("client") });
    await other.call("getSite");

    const list = await waitForRequests(site, 6);
    expect(list).toMatchObject({ recording: true, share: 1 });
    const shown = list.results.map(({ method, route, operationId, status, code }) => ({ method, route, operationId, status, code }));
    const page = { method: "GET", route: "/page/v2/{id}", operationId: "getPage" };
    const overlay = { method: "POST", route: "/overlay/v1", operationId: "createOverlay" };
    const ticket = { method: "POST", route: "/realtime/v1/tickets", operationId: "createTicket" };
    expect(shown).toHaveLength(6);
    expect(shown).toEqual(
      expect.arrayContaining([
        { ...page, status: 200, code: null },
        { ...page, status: 404, code: "not_found" },
        { ...ticket, status: 201, code: null },
        { ...overlay, status: 403, code: "forbidden" },
        { ...overlay, status: 401, code: "unauthenticated" },
        { method: "GET", route: null, operationId: null, status: 404, code: "not_found" },
      ]),
    );
    expect(list.results.find(({ requestId: id }) => id === requestId)).toMatchObject({ ...page, status: 200 });
    for (const text of [secret, channelId, site.accounts.viewer.id, site.developerKey]) expect(JSON.stringify(list)).not.toContain(text);
    expect((await waitForRequests(other, 1)).results).toMatchObject([{ operationId: "getSite", status: 200 }]);
  });

  test("is read in pages, and by status and route", async () => {
    const site = await newSite();
    for (let call = 0; call < 3; call++) await site.call("getPage", { params: { id: newId(call) } });
    await site.call("getSite");
    await waitForRequests(site, 4);
    const ids: string[] = [];
    let next: string | null = "/insights/v1/requests?limit=3";
    while (next !== null) {
      const query = Object.fromEntries(new URL(next, ORIGIN).searchParams);
      const { results, pagination } = await read(site, query);
      ids.push(...results.map(({ requestId }) => requestId));
      next = pagination.next;
    }
    expect(new Set(ids).size).toBe(4);
    const filters: CallOptions["query"][] = [
      ...[{ status: "4xx" }, { status: "2xx" }, { route: "/page/v2/{id}" }],
      { status: "4xx", route: "/site/v1" },
    ];
    const counts = await Promise.all(filters.map(async (query) => (await read(site, query)).results.length));
    expect(counts).toEqual([3, 1, 3, 0]);
  });

  test("is for keys with insights:read and site admins only", async () => {
    const site = await newSite();
    const key = await site.addKey(["page:read"]);
    const statusOf = async (options: CallOptions) => (await site.call("listRequests", options)).status;
    expect(await statusOf({ as: "admin" })).toBe(200);
    expect(await statusOf({ as: "reader" })).toBe(200);
    expect(await statusOf({ as: "creator" })).toBe(403);
    expect(await statusOf({ as: "viewer" })).toBe(403);
    expect(await statusOf({ as: "developer", headers: { "Tifo-Developer-Key": key } })).toBe(403);
  });

  test("isn't kept for a site that doesn't exist", async () => {
    const site = await newSite();
    const named = { "Tifo-Client-Id": newId(7) };
    const response = await exports.default.fetch(`${ORIGIN}/page/v2`, { headers: named });
    expect(response.status).toBe(401);
    // An operation that anybody may call doesn't check the site.
    expect((await exports.default.fetch(`${ORIGIN}/health`, { headers: named })).status).toBe(200);
    await site.call("getSite");
    await waitForRequests(site, 1);
    const everything = { statusClass: null, route: null, before: null, limit: 10 };
    expect(await schedulerOf(env, named["Tifo-Client-Id"]).requests(everything)).toEqual({ rows: [], requests: 0, recorded: 0 });
  });

  test("isn't kept where the operator has turned it off", async () => {
    const site = await newSite();
    const background: Promise<unknown>[] = [];
    const context = { waitUntil: (work: Promise<unknown>) => background.push(work), passThroughOnException: () => undefined, props: {} };
    const get = async (path: string) => {
      const request = new Request(`${ORIGIN}${path}`, { headers: await site.headersOf("developer") });
      return new Api().fetch(request, { ...env, TIFO_REQUEST_LOG: "off" }, context);
    };
    expect((await get("/site/v1")).status).toBe(200);
    expect(background).toEqual([]);
    const list = RequestList.parse(await (await get("/insights/v1/requests")).json());
    expect(list).toMatchObject({ results: [], recording: false, requests: 0 });
  });

  test.for(["first", "1", "1.2.3", "-1.2"])("rejects the cursor %s", async (cursor) => {
    const response = await (await newSite()).call("listRequests", { query: { cursor } });
    expect({ status: response.status, fields: response.fields }).toEqual({ status: 400, fields: ["cursor"] });
  });
});
