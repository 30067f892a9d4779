import { runInDurableObject } from "cloudflare:test";
import { env } from "cloudflare:workers";
import { afterEach, beforeAll, describe, expect, test, vi } from "vitest";
import { counterAt } from "#worker/durable-objects/stubs.ts";
import { Channel } from "#worker/durable-objects/channel/channel.ts";
import { Relay } from "#worker/durable-objects/relay/relay.ts";
import { Panel } from "#worker/services/panels/schemas.ts";
import { syncCounters } from "#worker/services/polls/counting.ts";
import { newSite, openSocket, type TestSite } from "../harness.ts";
import { evict, type TestViewer } from "./relay-viewer.ts";
import { idOf, type Poll, pollsOf } from "./polls.ts";

const TELL_MS = 500;

let site: TestSite;

beforeAll(async () => {
  site = await newSite();
});

afterEach(() => {
  vi.restoreAllMocks();
});

const { newPoll, crowd, vote, patch, results } = pollsOf(() => site);

describe("viewers", () => {
  const told = (viewer: TestViewer, poll: Poll) =>
    viewer.frames.flatMap((frame) => (frame.type === "poll.updated" && frame.data.pollId === poll._id ? [frame.data] : []));
  const hears = (viewer: TestViewer, poll: Poll, total: number) =>
    viewer.when((frame) => frame.type === "poll.updated" && frame.data.pollId === poll._id && frame.data.total === total);

  async function enter(channelId: string, at = site): Promise<TestViewer> {
    const viewer = await openSocket(at, channelId);
    await viewer.first("welcome");
    return viewer;
  }

  /** A panel with the poll, beside the picture of the first channel. */
  async function show(poll: Poll, at = site): Promise<void> {
    const renderer = { panel_type: "quick_pick", panel_name: "Quick pick", questions: [{ array_id: "a1B2c3D4e", poll_id: poll._id }] };
    const { _id } = (await at.call("createPanel", { body: { siteId: at.id, renderer } })).as(Panel);
    await env.DB.prepare("UPDATE pages SET data = json_set(data, '$.sidebar', json(?)) WHERE id = ?")
      .bind(JSON.stringify({ panels: [_id] }), at.channels[0])
      .run();
  }

  test("of the channels that show the poll hear of its tally, and no others", async () => {
    const poll = await newPoll();
    await show(poll);
    const [viewer, other] = [await enter(site.channels[0]), await enter(site.channels[1])];
    await vote(poll, (await crowd(1))[0] ?? "", 1);
    await hears(viewer, poll, 1);
    expect(told(viewer, poll).at(-1)).toEqual(await results(poll));
    expect(told(other, poll)).toEqual([]);
  });

  test("of the whole site hear of a poll that no channel shows, also that it was settled", async () => {
    const poll = await newPoll();
    const viewers = [await enter(site.channels[0]), await enter(site.channels[1])];
    await vi.waitUntil(async () => (await env.SITE_PRESENCE.getByName(site.id).concurrents()).concurrents >= 2);
    await vote(poll, (await crowd(1))[0] ?? "");
    await Promise.all(viewers.map((viewer) => hears(viewer, poll, 1)));
    await site.call("settlePoll", { params: { id: poll._id }, body: { correctAnswerId: idOf(poll, 0) } });
    for (const viewer of viewers)
      await viewer.when((frame) => frame.type === "poll.updated" && frame.data.correctAnswerId === idOf(poll, 0));
  });

  test("hear at most twice a second, at last the exact tally, and then nothing", async () => {
    const poll = await newPoll();
    await show(poll);
    const viewer = await enter(site.channels[0]);
    const fans = await crowd(300);
    const started = Date.now();
    for (let from = 0; from < fans.length; from += 10) {
      await Promise.all(fans.slice(from, from + 10).map((fan) => vote(poll, fan)));
      await scheduler.wait(30);
    }
    await hears(viewer, poll, 300);
    const frames = told(viewer, poll);
    expect(frames.length).toBeLessThanOrEqual(2 + (Date.now() - started) / TELL_MS);
    expect(new Set(frames.map(({ total }) => total)).size).toBe(frames.length);
    await counterAt(env, site.id, poll._id, 0).changed();
    await scheduler.wait(2 * TELL_MS);
    expect(told(viewer, poll)).toHaveLength(frames.length);
  });

  test("hear the last tally also when their relay did not take it at first", async () => {
    const poll = await newPoll();
    await show(poll);
    const viewer = await enter(site.channels[0]);
    const deliver = vi.spyOn(Relay.prototype, "deliver").mockImplementationOnce(() => {
      throw new Error("relay down");
    });
    await vote(poll, (await crowd(1))[0] ?? "");
    await hears(viewer, poll, 1);
    expect(deliver.mock.results.at(0)?.type).toBe("throw");
  });

  test("hear what is new at once, however long the repeat of what a relay did not take is put off", async () => {
    const poll = await newPoll();
    await show(poll);
    const viewer = await enter(site.channels[0]);
    const state = vi.spyOn(Channel.prototype, "state").mockRejectedValue(new Error("a relay is silent"));
    const counter = counterAt(env, site.id, poll._id, 0);
    await vote(poll, (await crowd(1))[0] ?? "");
    await vi.waitUntil(() => state.mock.calls.length >= 4);
    await counter.changed();
    const due = await runInDurableObject(counter, (_, { storage }) => storage.getAlarm());
    expect((due ?? 0) - Date.now()).toBeLessThanOrEqual(TELL_MS);
    state.mockRestore();
    await hears(viewer, poll, 1);
  });

  test("who have just opened a channel receive the tally of the vote that follows at once", async () => {
    const own = await newSite();
    const poll = await newPoll({}, own);
    const viewer = await enter(own.channels[0], own);
    await vote(poll, own.accounts.viewer.id, 0, "first", own);
    await hears(viewer, poll, 1);
  });

  test.for(["the whole site", "one channel"])(
    "who connect after the last vote receive the tally of a poll of %s, once",
    async (audience) => {
      const own = await newSite();
      const poll = await newPoll({}, own);
      if (audience === "one channel") await show(poll, own);
      const first = await enter(own.channels[0], own);
      await vote(poll, own.accounts.viewer.id, 1, "first", own);
      await hears(first, poll, 1);
      for (const stub of ["relay", "channel", "presence"]) {
        if (stub === "relay") await evict(env.RELAY.getByName(`${own.id}:${own.channels[0]}:0`));
        if (stub === "channel") await evict(env.CHANNEL.getByName(`${own.id}:${own.channels[0]}`));
        if (stub === "presence") await evict(env.SITE_PRESENCE.getByName(own.id));
        const late = await enter(own.channels[0], own);
        await hears(late, poll, 1);
        await late.first("concurrents");
        expect(told(late, poll)).toHaveLength(1);
      }
    },
  );

  test("who connect after a poll was deleted don't receive its tally", async () => {
    const own = await newSite();
    const poll = await newPoll({}, own);
    const first = await enter(own.channels[0], own);
    await vote(poll, own.accounts.viewer.id, 1, "first", own);
    await hears(first, poll, 1);
    await env.DB.prepare("DELETE FROM polls WHERE id = ?").bind(poll._id).run();
    await syncCounters(env, own.id, poll._id);
    const late = await enter(own.channels[0], own);
    await late.first("concurrents");
    expect(told(late, poll)).toEqual([]);
  });

  test("don't hear who is ahead while the poll hides it", async () => {
    const poll = await newPoll({ hideResults: true });
    await show(poll);
    const viewer = await enter(site.channels[0]);
    await vote(poll, (await crowd(1))[0] ?? "");
    await hears(viewer, poll, 1);
    expect(JSON.stringify(told(viewer, poll))).not.toContain("responses");
    await patch(poll, { open: false });
    await viewer.when((frame) => frame.type === "poll.updated" && frame.data.pollId === poll._id && frame.data.hidden === false);
    expect(told(viewer, poll).at(-1)).toMatchObject({ answers: [{ responses: 1 }, { responses: 0 }, { responses: 0 }] });
  });
});
