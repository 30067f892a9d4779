import { env } from "cloudflare:workers";
import { z } from "@hono/zod-openapi";
import { beforeAll, describe, expect, test, vi } from "vitest";
import { createDb } from "#db/client.ts";
import { newSite, type TestSite } from "#test/harness.ts";
import { newId } from "#worker/lib/ids.ts";
import { countViews, pruneViews } from "#worker/services/videos/views.ts";
import { Video, VideoTotalViews } from "#worker/services/videos/schemas.ts";
import { failNextBatch, mentions } from "#test/next-batch.ts";
import { siteStore } from "#test/site-store.ts";

const HOUR = 3_600_000;

let site: TestSite;

beforeAll(async () => {
  site = await newSite();
});

async function newVideo(type: "vod" | "livestream" = "vod", on = site): Promise<string> {
  const body = { title: "Highlights", durationSeconds: 312, player: "file", type, url: "https://vod.demo.example/a.m3u8" };
  return (await on.call("createVideo", { body })).as(Video)._id;
}

const watch = (id: string, device: string, on = site) => on.call("recordView", { params: { id }, headers: { "Tifo-Device-Id": device } });
const total = async (id: string) => (await site.call("getTotalViews", { params: { id } })).as(z.number());
const totals = async (ids: string[], on = site) =>
  (await on.call("listTotalViews", { params: { ids: ids.join(",") } })).as(z.array(VideoTotalViews));

describe("a view", () => {
  test("is counted immediately, and once per device", async () => {
    const id = await newVideo();
    expect(await total(id)).toBe(0);
    expect((await watch(id, "phone")).status).toBe(204);
    await watch(id, "phone");
    expect(await total(id)).toBe(1);
    await watch(id, "television");
    expect(await total(id)).toBe(2);
  });

  test("is counted once for concurrent requests of a device", async () => {
    const id = await newVideo();
    await Promise.all(Array.from({ length: 30 }, (_, index) => watch(id, `phone-${index % 3}`)));
    expect(await total(id)).toBe(3);
  });

  test("of another video counts for that video", async () => {
    const [one, other] = [await newVideo(), await newVideo()];
    await watch(one, "phone");
    expect(await total(other)).toBe(0);
    await watch(other, "phone");
    expect(await total(other)).toBe(1);
  });

  test("requires a device and a video of the site", async () => {
    const id = await newVideo();
    expect((await site.call("recordView", { params: { id } })).fields).toEqual(["Tifo-Device-Id"]);
    expect((await watch(newId(1), "phone")).status).toBe(404);
    expect((await watch(id, "phone", await newSite())).status).toBe(404);
    expect(await total(id)).toBe(0);
  });

  test("of a device counts again after exactly an hour", async () => {
    const id = await newVideo();
    const views = [0, HOUR - 1, HOUR, 2 * HOUR - 1].map((at) => ({ device: "phone", at }));
    for (const view of views) await countViews(env, site.id, id, [view]);
    expect(await total(id)).toBe(2);
  });

  test("that is written again, or of a deleted video, adds nothing", async () => {
    const id = await newVideo();
    const views = [1, 2, 3].map((device) => ({ device: String(device), at: 5 }));
    await Promise.all([countViews(env, site.id, id, views), countViews(env, site.id, id, views)]);
    expect(await total(id)).toBe(3);
    await site.call("deleteVideo", { params: { id } });
    await countViews(env, site.id, id, [{ device: "4", at: 5 }]);
    expect(await totals([id])).toEqual([]);
  });

  test("has its device pruned once it can be counted again, without changing the count", async () => {
    const id = await newVideo();
    await countViews(env, site.id, id, [
      { device: "old", at: 1_000 },
      { device: "new", at: 2_000 },
    ]);
    await pruneViews({ db: createDb(siteStore), now: HOUR + 1_001 });
    const { results } = await siteStore.prepare("select device from video_views where video_id = ?").bind(id).all();
    expect(results).toEqual([{ device: "new" }]);
    expect(await total(id)).toBe(2);
  });

  test("of many concurrent viewers is counted exactly, with one write of the video at a time", async () => {
    const id = await newVideo();
    const write = siteStore.batch.bind(siteStore);
    let running = 0;
    const concurrency: number[] = [];
    const batch = vi.spyOn(siteStore, "batch").mockImplementation(async <T>(statements: D1PreparedStatement[]) => {
      if (!statements.some((statement) => mentions(statement, id))) return write<T>(statements);
      concurrency.push(++running);
      return await write<T>(statements).finally(() => running--);
    });
    const counter = env.VIEW_COUNTER.getByName(id);
    await Promise.all(Array.from({ length: 200 }, (_, index) => counter.count({ device: String(index), at: 5 }, site.id)));
    batch.mockRestore();
    expect(await total(id)).toBe(200);
    expect(new Set(concurrency)).toEqual(new Set([1]));
  });

  test("whose write fails is rejected, and doesn't block later ones", async () => {
    const id = await newVideo();
    const counter = env.VIEW_COUNTER.getByName(id);
    const batch = failNextBatch(id, "D1 is away");
    const outcomes = await Promise.allSettled([
      counter.count({ device: "a", at: 5 }, site.id),
      counter.count({ device: "b", at: 5 }, site.id),
    ]);
    batch.restore();
    expect(outcomes[0].status).toBe("rejected");
    await counter.count({ device: "c", at: 5 }, site.id);
    expect(await total(id)).toBe(1 + outcomes.filter(({ status }) => status === "fulfilled").length);
  });
});

describe("total views", () => {
  test("of a livestream are in the batch, which the error of the single operation names", async () => {
    const id = await newVideo("livestream");
    await watch(id, "phone");
    const single = await site.call("getTotalViews", { params: { id } });
    expect(single.status).toBe(404);
    expect(single.text).toContain("total-views-batch");
    expect(await totals([id])).toEqual([{ id, views: 1 }]);
  });

  test("of several videos are in the requested order, without those of other sites", async () => {
    const [one, other] = [await newVideo(), await newVideo()];
    const foreign = await newVideo("vod", await newSite());
    await watch(other, "phone");
    expect(await totals([other, foreign, one, newId(1)])).toEqual([
      { id: other, views: 1 },
      { id: one, views: 0 },
    ]);
  });

  test("accept at most 100 ids, and only ids", async () => {
    const ids = Array.from({ length: 101 }, (_, index) => newId(index));
    expect(await totals(ids.slice(1))).toEqual([]);
    expect((await site.call("listTotalViews", { params: { ids: ids.join(",") } })).status).toBe(400);
    expect((await site.call("listTotalViews", { params: { ids: "one,two" } })).status).toBe(400);
  });
});
