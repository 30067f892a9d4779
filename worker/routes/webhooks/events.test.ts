import { beforeAll, describe, expect, test } from "vitest";
import { newSite, type TestSite } from "#test/harness.ts";
import { Overlay } from "#worker/services/overlays/schemas.ts";
import { EventList } from "#worker/services/webhooks/schemas.ts";

let site: TestSite;
let overlay: { _id: string };

const input = (name: string) => ({
  name,
  description: "",
  siteId: site.id,
  type: "template",
  duration: 8,
  contents: [{ kind: "html", html: "Goal", position: "center" }],
});

beforeAll(async () => {
  site = await newSite();
  overlay = (await site.call("createOverlay", { body: input("Goal") })).as(Overlay);
  const params = { id: overlay._id };
  await site.call("createOverlay", { body: input("Card") });
  await site.call("updateOverlay", { params, body: input("Own goal"), headers: { "Tifo-Request-Id": "request-of-the-update" } });
  await site.call("broadcastOverlay", { params, body: { channelId: site.channels[0] } });
  await site.call("clearBroadcasts", { as: "developer" });
  await site.call("deleteOverlay", { params });
});

async function read(query: Record<string, string | number> = {}) {
  return (await site.call("listEvents", { query })).as(EventList);
}

describe("the event log", () => {
  test("has every change in commit order, without gaps", async () => {
    const { results, head, oldest, after } = await read();
    expect(results.map(({ type }) => type)).toEqual([
      ...["overlay.created", "overlay.created", "overlay.updated", "overlay.broadcast", "overlay.cleared", "overlay.deleted"],
    ]);
    expect(results.map(({ sequence }) => sequence)).toEqual([1, 2, 3, 4, 5, 6]);
    expect({ head, oldest, after }).toEqual({ head: 6, oldest: 1, after: 6 });
  });

  test("has the previous sequence of each resource", async () => {
    const { results } = await read();
    const own = results.filter(({ resource }) => resource === `overlay/${overlay._id}`);
    expect(own.map(({ sequence, previousSequence }) => [sequence, previousSequence])).toEqual([
      [1, null],
      [3, 1],
      [4, 3],
      [6, 4],
    ]);
  });

  test("has the actor, the request and the new state", async () => {
    const { results } = await read({ types: "overlay.updated" });
    expect(results).toMatchObject([{ requestId: "request-of-the-update", data: { _id: overlay._id, name: "Own goal" } }]);
    expect(results[0]?.actor).toMatch(/^developer:[0-9a-f]{24}$/);
  });

  test("is read page by page from a position, each event once", async () => {
    const seen: number[] = [];
    let after = 0;
    for (;;) {
      const page = await read({ after, limit: 2 });
      if (page.results.length === 0) break;
      seen.push(...page.results.map(({ sequence }) => sequence));
      after = page.after;
    }
    expect(seen).toEqual([1, 2, 3, 4, 5, 6]);
    expect((await read({ after: 99 })).after).toBe(99);
  });

  test("skips other types when filtered, also for the next request", async () => {
    const { results, after } = await read({ types: "overlay.created, overlay.cleared" });
    expect(results.map(({ sequence }) => sequence)).toEqual([1, 2, 5]);
    expect(after).toBe(5);
    expect(await read({ types: "no.such" })).toMatchObject({ results: [], after: 6 });
  });

  test("is separate for each site", async () => {
    const other = await newSite();
    expect((await other.call("listEvents")).as(EventList)).toEqual({ results: [], after: 0, head: 0, oldest: 0 });
  });

  test("loses and repeats no event under concurrent changes", async () => {
    const own = await newSite();
    const created = await Promise.all(
      Array.from({ length: 30 }, (_, i) => own.call("createOverlay", { body: { ...input(`Overlay ${i}`), siteId: own.id } })),
    );
    const { results } = (await own.call("listEvents", { query: { limit: 200 } })).as(EventList);
    expect(results.map(({ sequence }) => sequence)).toEqual(Array.from({ length: 30 }, (_, i) => i + 1));
    expect(new Set(results.map(({ resource }) => resource))).toEqual(
      new Set(created.map((response) => `overlay/${response.as(Overlay)._id}`)),
    );
  });
});
