import { expect, test } from "vitest";
import { listChannels } from "#sdk/core/lists/channels.ts";
import { json, setUp } from "./client-server.ts";

const ids = (count: number) => Array.from({ length: count }, (_, index) => `c${String(index)}`);

/** A site with so many channels, 200 a page, and what is asked of it. */
function siteOf(count: number) {
  const { client, requests } = setUp(({ url }) => {
    const { searchParams } = new URL(url);
    const from = Number(searchParams.get("cursor") ?? 0);
    const to = from + Number(searchParams.get("limit"));
    const next = to < count ? `/page/v2/channel?limit=200&cursor=${String(to)}` : null;
    const results = ids(count).slice(from, to);
    return json({ results: results.map((_id) => ({ _id })), pagination: { next } });
  });
  const list = async (wanted: string[] | null) => (await listChannels({ client }, wanted)).map(({ _id }) => _id);
  return { list, requests };
}

test("lists all channels, however many pages they are", async () => {
  const { list, requests } = siteOf(450);
  expect(await list(null)).toEqual(ids(450));
  expect(requests).toHaveLength(3);
});

test("lists the wanted ones in their order, without deleted ones, and looks no further than necessary", async () => {
  const { list, requests } = siteOf(450);
  expect(await list(["c201", "c3"])).toEqual(["c201", "c3"]);
  expect(requests).toHaveLength(2);
  expect(await list(["c449", "deleted", "c0"])).toEqual(["c449", "c0"]);
  expect(requests).toHaveLength(5);
});

test("ends after 2,000 channels", async () => {
  const { list, requests } = siteOf(5_000);
  expect(await list(null)).toHaveLength(2_000);
  expect(requests).toHaveLength(10);
});
