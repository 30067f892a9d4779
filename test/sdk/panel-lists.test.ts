import { expect, test } from "vitest";
import { upcomingEvents } from "#sdk/core/lists/calendar.ts";
import { videosOfPlaylist } from "#sdk/core/lists/playlists.ts";
import { json, setUp } from "./client-server.ts";

const ids = (prefix: string, count: number) => Array.from({ length: count }, (_, index) => `${prefix}${String(index)}`);

/** A page of these items, with the link to the next one. */
function pageOf(items: readonly object[], { searchParams }: URL) {
  const from = Number(searchParams.get("cursor") ?? 0);
  const to = from + Number(searchParams.get("limit"));
  return { results: items.slice(from, to), pagination: { next: to < items.length ? `/?cursor=${String(to)}` : null } };
}

const pathsOf = (requests: readonly Request[]) => requests.map(({ url }) => new URL(url).pathname).sort();

test("a playlist's videos are in its order, without deleted ones, in two requests", async () => {
  const members = [
    { id: "v2", schema: "video" },
    { id: "page", schema: "page" },
    { id: "deleted", schema: "video" },
    { id: "v0", schema: "video" },
    { id: "v2", schema: "video" },
  ];
  const { client, requests } = setUp(({ url }) => {
    const asked = new URL(url);
    if (asked.pathname === "/playlist/v1/p1") return json({ members });
    return asked.searchParams.get("playlistId") === "p1" ? json(pageOf([{ _id: "v0" }, { _id: "v2" }], asked)) : json({}, 400);
  });
  const videos = await videosOfPlaylist({ client }, "p1");
  expect(videos.map(({ _id }) => _id)).toEqual(["v2", "v0", "v2"]);
  expect(pathsOf(requests)).toEqual(["/playlist/v1/p1", "/video/v3"]);
});

test("a playlist that has been deleted has no videos, but one that can't be read is a failure", async () => {
  const read = (status: number) =>
    videosOfPlaylist(
      { client: setUp(({ url }) => (url.includes("/video/") ? json(pageOf([], new URL(url))) : json({}, status))).client },
      "p1",
    );
  expect(await read(404)).toEqual([]);
  await expect(read(403)).rejects.toMatchObject({ status: 403 });
});

test("a playlist of 1,000 videos is whole", async () => {
  const members = ids("v", 1_000).map((id) => ({ id, schema: "video" }));
  const videos = ids("v", 1_000).map((_id) => ({ _id }));
  const { client, requests } = setUp(({ url }) => {
    const asked = new URL(url);
    return json(asked.pathname === "/video/v3" ? pageOf(videos, asked) : { members });
  });
  expect(await videosOfPlaylist({ client }, "p1")).toHaveLength(1_000);
  expect(requests).toHaveLength(6);
});

/** A calendar in which every 100th event is on `main`, the others elsewhere. */
function calendarOf(count: number) {
  const events = ids("e", count).map((_id, index) => ({ _id, channelId: index % 100 === 99 ? "main" : index % 2 === 0 ? "other" : null }));
  const { client, requests } = setUp(({ url }) => {
    const asked = new URL(url);
    const channelId = asked.searchParams.get("channelId");
    return json(pageOf(channelId === null ? events : events.filter((event) => event.channelId === channelId), asked));
  });
  const list = async (channelIds: string[]) =>
    (await upcomingEvents({ client, environment: { now: () => 999.7 } }, channelIds)).map(({ _id }) => _id);
  return { list, requests };
}

test("upcoming events of a channel are found behind those of others", async () => {
  const { list, requests } = calendarOf(450);
  expect(await list(["main"])).toEqual(["e99", "e199", "e299", "e399"]);
  expect(requests).toHaveLength(1);
  expect(Object.fromEntries(new URL(requests[0]?.url ?? "").searchParams)).toMatchObject({
    startTimestamp: "1000",
    endTimestamp: String(1_000 + 30 * 86_400_000),
  });
  expect(await list(["main", "backstage"])).toEqual(["e99", "e199", "e299", "e399"]);
  expect(requests).toHaveLength(4);
});

test("upcoming events of no channel in particular are all of the site's", async () => {
  expect(await calendarOf(450).list([])).toEqual(ids("e", 450));
});
