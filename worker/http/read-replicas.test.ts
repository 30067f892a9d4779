import { env } from "cloudflare:workers";
import { describe, expect, onTestFinished, test } from "vitest";
import { RequestSessions } from "#db/sessions.ts";
import { bookmarkAt, ReplicatedDatabase } from "#test/d1-replica.ts";
import { fillPath, newSite, ORIGIN, type TestSite } from "#test/harness.ts";
import { operationOf } from "#test/openapi.ts";
import { shard, siteStore } from "#test/site-store.ts";
import { Api } from "#worker/app.ts";

const api = new Api();

/** A deployment with read replicas. */
function replicated(TIFO_READ_REPLICAS = "on") {
  const database = new ReplicatedDatabase(siteStore);
  const deployment: Env = { ...env, TIFO_READ_REPLICAS, [shard === 1 ? "DB" : `DB_${shard}`]: database.binding };
  const background: Promise<unknown>[] = [];
  const context = {
    waitUntil: (work: Promise<unknown>) => void background.push(work),
    passThroughOnException: () => undefined,
    props: {},
  };
  onTestFinished(async () => void (await Promise.allSettled(background)));
  const send = async (path: string, init: RequestInit = {}) => api.fetch(new Request(`${ORIGIN}${path}`, init), deployment, context);
  return { database, send };
}

const clientOf = (site: TestSite, bookmark?: string) => ({
  "Tifo-Client-Id": site.id,
  ...(bookmark === undefined ? {} : { "Tifo-Bookmark": bookmark }),
});

const FROM_ANY = "first-unconstrained";
const OTHER = shard + 1;

test("a read without credentials may be answered by any replica", async () => {
  const site = await newSite();
  const { database, send } = replicated();
  for (const path of ["/page/v2", `/page/v2/${site.channels[0]}`]) {
    const response = await send(path, { headers: clientOf(site) });
    expect(response.status).toBe(200);
    expect(response.headers.get("Tifo-Bookmark")).toBe(`${shard}:${bookmarkAt(1)}`);
  }
  expect(database).toMatchObject({ trips: [FROM_ANY, FROM_ANY], plain: 0 });
});

test("a read begins at the caller's bookmark of the site's database", async () => {
  const site = await newSite();
  const { database, send } = replicated();
  await send("/page/v2", { headers: clientOf(site, `${shard}:${bookmarkAt(7)}`) });
  expect(database.trips).toEqual([bookmarkAt(7)]);
});

test.for([
  ["of another database", `${OTHER}:${bookmarkAt(7)}`],
  ["without its database", bookmarkAt(7)],
  ["that is too long", `${shard}:${bookmarkAt(7)}${"0".repeat(5000)}`],
  ["that names a constraint", `${shard}:first-primary`],
  ["that isn't one", "{}"],
  ["that is empty", ""],
])("a bookmark %s is ignored", async ([, bookmark]) => {
  const site = await newSite();
  const { database, send } = replicated();
  const response = await send("/page/v2", { headers: clientOf(site, bookmark) });
  expect({ status: response.status, trips: database.trips }).toEqual({ status: 200, trips: [FROM_ANY] });
});

test("a bookmark that the database doesn't have leads to the primary", async () => {
  const site = await newSite();
  const { database, send } = replicated();
  database.replica = "failing";
  const response = await send("/page/v2", { headers: clientOf(site, `${shard}:${bookmarkAt(0xffffff)}`) });
  expect({ status: response.status, trips: database.trips }).toEqual({ status: 200, trips: [bookmarkAt(0xffffff), "first-primary"] });
});

test("a site that a replica doesn't have yet is looked up at the primary", async () => {
  const site = await newSite();
  const { database, send } = replicated();
  database.replica = "empty";
  const response = await send("/site/v1", { headers: clientOf(site) });
  expect({ status: response.status, trips: database.trips }).toEqual({ status: 200, trips: [FROM_ANY, "first-primary"] });
});

test("keys, sessions and roles are verified at the primary, with the rows that they give access to", async () => {
  const site = await newSite();
  for (const caller of ["developer", "viewer", "admin"] as const) {
    const { database, send } = replicated();
    database.replica = "failing";
    const headers = { ...(await site.headersOf(caller)), "Tifo-Bookmark": `${shard}:${bookmarkAt(7)}` };
    const response = await send(caller === "viewer" ? `/account/v3/${site.accounts.viewer.id}` : "/overlay/v1", { headers });
    expect(response.status).toBe(200);
    expect(new Set(database.trips)).toEqual(new Set(["first-primary"]));
  }
});

test("every round trip of a write goes to the primary, and its response has a bookmark", async () => {
  const site = await newSite();
  const { database, send } = replicated();
  database.state = 9;
  const headers = {
    ...(await site.headersOf("developer")),
    "Content-Type": "application/json",
    "Idempotency-Key": "news",
    "Tifo-Bookmark": `${shard}:${bookmarkAt(2)}`,
  };
  const body = JSON.stringify({ type: "landing", slug: "news", data: { name: "News" } });
  const response = await send("/page/v2", { method: "POST", headers, body });
  expect(response.status, await response.clone().text()).toBe(201);
  expect(response.headers.get("Tifo-Bookmark")).toBe(`${shard}:${bookmarkAt(9)}`);
  expect(database.trips.length).toBeGreaterThan(1);
  expect(new Set(database.trips)).toEqual(new Set(["first-primary"]));
});

test.for(["pollTvCode", "consumeIntent", "getContentById", "openManifest", "readRecording"])(
  "%s, which admits somebody without credentials, reads the primary",
  async (operationId) => {
    const site = await newSite();
    const { database, send } = replicated();
    database.replica = "failing";
    const operation = operationOf(operationId);
    const path = fillPath(operation, { pageId: site.channels[0], channelId: site.channels[0] });
    const query = operationId === "openManifest" ? "?url=https://example.com/live.m3u8" : "?from=0";
    const headers = { ...clientOf(site), "Tifo-Device-Id": "device-of-a-test" };
    const response = await send(path + (operationId === "getContentById" ? "" : query), { headers });
    expect(response.status).toBeLessThan(500);
    expect(database.trips.filter((from) => from !== "first-primary")).toEqual([]);
  },
);

test("a page on another origin may read the bookmark", async () => {
  const site = await newSite();
  const { send } = replicated();
  const response = await send("/page/v2", { headers: { ...clientOf(site), Origin: "https://demo.example" } });
  expect(response.headers.get("Access-Control-Expose-Headers")?.split(",")).toContain("Tifo-Bookmark");
  const preflight = await send("/page/v2", {
    method: "OPTIONS",
    headers: { Origin: "https://demo.example", "Access-Control-Request-Method": "GET", "Access-Control-Request-Headers": "tifo-bookmark" },
  });
  expect(preflight.headers.get("Access-Control-Allow-Headers")).toBe("tifo-bookmark");
});

test("a response that others may get from a cache has no bookmark", async () => {
  const site = await newSite();
  const { send } = replicated();
  const response = await send(`/event/v1/event-calendar/feed.ics?clientId=${site.id}`);
  expect({ status: response.status, bookmark: response.headers.get("Tifo-Bookmark") }).toEqual({ status: 200, bookmark: null });
});

describe("reads of the same at the same time", () => {
  const MANY = 20;
  const states = async (responses: Response[]) =>
    Promise.all(responses.map(async (response) => [response.status, response.headers.get("Tifo-Bookmark"), await response.text()]));

  test.for(["on", "off"])("are two round trips, however many they are, with replicas %s", async (replicas) => {
    const site = await newSite();
    const { database, send } = replicated(replicas);
    const path = `/page/v2/${site.channels[0]}`;
    await send(path, { headers: clientOf(site) });
    const before = database.trips.length + database.plain;
    const all = await states(await Promise.all(Array.from({ length: MANY }, () => send(path, { headers: clientOf(site) }))));
    expect(database.trips.length + database.plain - before).toBe(2);
    expect(all[0]?.[0]).toBe(200);
    expect(new Set(all.map(String))).toHaveLength(1);
  });

  test("of different sites, pages or bookmarks are their own", async () => {
    const [site, other] = [await newSite(), await newSite()];
    const { database, send } = replicated();
    const path = (of: TestSite, index = 0) => `/page/v2/${of.channels[index]}`;
    const responses = await Promise.all([
      send(path(site), { headers: clientOf(site) }),
      send(path(site), { headers: clientOf(other) }),
      send(path(other), { headers: clientOf(other) }),
      send(path(site, 1), { headers: clientOf(site) }),
      send(path(site), { headers: clientOf(site, `${shard}:${bookmarkAt(7)}`) }),
    ]);
    expect(responses.map(({ status }) => status)).toEqual([200, 404, 200, 200, 200]);
    expect(database.trips.toSorted()).toEqual([bookmarkAt(7), FROM_ANY, FROM_ANY, FROM_ANY, FROM_ANY]);
  });

  test("have the bookmark of what they have seen", async () => {
    const site = await newSite();
    const { database, send } = replicated();
    database.state = 9;
    const sent = { headers: clientOf(site, `${shard}:${bookmarkAt(7)}`) };
    const all = await states(await Promise.all(Array.from({ length: MANY }, () => send(`/page/v2/${site.channels[0]}`, sent))));
    expect(new Set(all.map(([, bookmark]) => bookmark))).toEqual(new Set([`${shard}:${bookmarkAt(9)}`]));
  });

  test("let the request's next read begin where the newest of them ended, and its response say so", async () => {
    const { database } = replicated();
    const at = (state: number) => `${shard}:${bookmarkAt(state)}`;
    const sessions = new RequestSessions(true, at(2));
    const read = () => sessions.open(database.binding, shard).prepare("select 1").raw();
    for (const bookmark of [at(9), at(5), undefined]) sessions.follow(bookmark);
    await read();
    expect({ trips: database.trips, next: sessions.sharedFrom() }).toEqual({ trips: [bookmarkAt(9)], next: at(9) });
    database.state = 12;
    await read();
    expect(sessions.bookmark()).toBe(at(12));
    expect(sessions.leaveReplica()).toBe(true);
    await read();
    expect({ last: database.trips.at(-1), next: sessions.sharedFrom() }).toEqual({ last: "first-primary", next: undefined });
  });

  test("aren't shared by callers whose credentials are verified", async () => {
    const site = await newSite();
    const { database, send } = replicated();
    const headers = await site.headersOf("developer");
    const responses = await Promise.all(Array.from({ length: MANY }, () => send("/overlay/v1", { headers })));
    expect(new Set(responses.map(({ status }) => status))).toEqual(new Set([200]));
    expect(database.trips).toHaveLength(MANY);
  });
});

test("without replicas, no session is opened and no bookmark sent", async () => {
  const site = await newSite();
  const { database, send } = replicated("off");
  const response = await send("/page/v2", { headers: clientOf(site, `${shard}:${bookmarkAt(7)}`) });
  expect({ status: response.status, bookmark: response.headers.get("Tifo-Bookmark") }).toEqual({ status: 200, bookmark: null });
  expect(database).toMatchObject({ trips: [], plain: 1 });
});
