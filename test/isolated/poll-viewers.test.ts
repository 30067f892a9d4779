import { runInDurableObject } from "cloudflare:test";
import { env } from "cloudflare:workers";
import { beforeAll, describe, expect, test, vi } from "vitest";
import { counterAt } from "#worker/durable-objects/stubs.ts";
import { Channel } from "#worker/durable-objects/channel/channel.ts";
import { Relay } from "#worker/durable-objects/relay/relay.ts";
import { Overlay } from "#worker/services/overlays/schemas.ts";
import { Panel } from "#worker/services/panels/schemas.ts";
import { findAudience } from "#worker/services/polls/audience.ts";
import { syncCounters } from "#worker/services/polls/counting.ts";
import { newSite, openSocket, type TestSite } from "../harness.ts";
import { evict, type TestViewer } from "./relay-viewer.ts";
import { idOf, type Poll, pollsOf } from "./polls.ts";
import { siteStore } from "#test/site-store.ts";

const PUBLISH_INTERVAL_MS = 500;

let site: TestSite;

beforeAll(async () => {
  site = await newSite();
});

const { newPoll, crowd, vote, patch, results } = pollsOf(() => site);

describe("viewers", () => {
  const updatesOf = (viewer: TestViewer, poll: Poll) =>
    viewer.frames.flatMap((frame) => (frame.type === "poll.updated" && frame.data.pollId === poll._id ? [frame.data] : []));
  const receivesTotal = (viewer: TestViewer, poll: Poll, total: number) =>
    viewer.when((frame) => frame.type === "poll.updated" && frame.data.pollId === poll._id && frame.data.total === total);

  async function connectViewer(channelId: string, at = site): Promise<TestViewer> {
    const viewer = await openSocket(at, channelId);
    await viewer.first("welcome");
    return viewer;
  }

  /** Adds a panel with the poll to the first channel's sidebar. */
  async function addToSidebar(poll: Poll, at = site): Promise<void> {
    const renderer = { panel_type: "quick_pick", panel_name: "Quick pick", questions: [{ array_id: "a1B2c3D4e", poll_id: poll._id }] };
    const { _id } = (await at.call("createPanel", { body: { siteId: at.id, renderer } })).as(Panel);
    await siteStore
      .prepare("UPDATE pages SET data = json_set(data, '$.sidebar', json(?)) WHERE id = ?")
      .bind(JSON.stringify({ panels: [_id] }), at.channels[0])
      .run();
  }

  test("of channels that show the poll receive its tally, and no others", async () => {
    const poll = await newPoll();
    await addToSidebar(poll);
    const [viewer, other] = [await connectViewer(site.channels[0]), await connectViewer(site.channels[1])];
    await vote(poll, (await crowd(1))[0] ?? "", 1);
    await receivesTotal(viewer, poll, 1);
    expect(updatesOf(viewer, poll).at(-1)).toEqual(await results(poll));
    expect(updatesOf(other, poll)).toEqual([]);
  });

  test("of a channel on which an overlay shows the poll receive its tally too, until it is cleared", async () => {
    const poll = await newPoll();
    await addToSidebar(poll);
    const [, channelId = ""] = site.channels;
    const contents = [{ kind: "kit", template: "poll" }];
    const overlay = { siteId: site.id, name: "Poll", description: "", type: "template", duration: 600, contents };
    const { _id } = (await site.call("createOverlay", { body: overlay })).as(Overlay);
    await site.call("broadcastOverlay", { params: { id: _id }, body: { channelId, variables: { pollId: poll._id } } });
    const audience = () => findAudience(env, site.id, poll._id, undefined);
    expect((await audience()).channelIds).toEqual(site.channels.slice(0, 2));
    const viewer = await connectViewer(channelId);
    await vote(poll, (await crowd(1))[0] ?? "", 1);
    await receivesTotal(viewer, poll, 1);
    await site.call("clearChannelBroadcasts", { params: { targetId: channelId }, body: {} });
    expect((await audience()).channelIds).toEqual(site.channels.slice(0, 1));
  });

  test("of the whole site receive the tally and result of a poll that no channel shows", async () => {
    const poll = await newPoll();
    const viewers = [await connectViewer(site.channels[0]), await connectViewer(site.channels[1])];
    await vi.waitUntil(async () => (await env.SITE_PRESENCE.getByName(site.id).concurrents()).concurrents >= 2);
    await vote(poll, (await crowd(1))[0] ?? "");
    await Promise.all(viewers.map((viewer) => receivesTotal(viewer, poll, 1)));
    await site.call("settlePoll", { params: { id: poll._id }, body: { correctAnswerId: idOf(poll, 0) } });
    for (const viewer of viewers)
      await viewer.when((frame) => frame.type === "poll.updated" && frame.data.correctAnswerId === idOf(poll, 0));
  });

  test("receive at most two updates a second, the last with the exact tally", async () => {
    const poll = await newPoll();
    await addToSidebar(poll);
    const viewer = await connectViewer(site.channels[0]);
    const fans = await crowd(300);
    const started = Date.now();
    for (let from = 0; from < fans.length; from += 10) {
      await Promise.all(fans.slice(from, from + 10).map((fan) => vote(poll, fan)));
      await scheduler.wait(30);
    }
    await receivesTotal(viewer, poll, 300);
    const frames = updatesOf(viewer, poll);
    expect(frames.length).toBeLessThanOrEqual(2 + (Date.now() - started) / PUBLISH_INTERVAL_MS);
    expect(new Set(frames.map(({ total }) => total)).size).toBe(frames.length);
    await counterAt(env, site.id, poll._id, 0).changed();
    await scheduler.wait(2 * PUBLISH_INTERVAL_MS);
    expect(updatesOf(viewer, poll)).toHaveLength(frames.length);
  });

  test("receive the last tally even if their relay failed to take it at first", async () => {
    const poll = await newPoll();
    await addToSidebar(poll);
    const viewer = await connectViewer(site.channels[0]);
    const deliver = vi.spyOn(Relay.prototype, "deliver").mockImplementationOnce(() => {
      throw new Error("relay down");
    });
    await vote(poll, (await crowd(1))[0] ?? "");
    await receivesTotal(viewer, poll, 1);
    expect(deliver.mock.results.at(0)?.type).toBe("throw");
  });

  test("receive a new tally immediately, even while a failed delivery waits for its retry", async () => {
    const poll = await newPoll();
    await addToSidebar(poll);
    const viewer = await connectViewer(site.channels[0]);
    const state = vi.spyOn(Channel.prototype, "state").mockRejectedValue(new Error("a relay doesn't respond"));
    const counter = counterAt(env, site.id, poll._id, 0);
    await vote(poll, (await crowd(1))[0] ?? "");
    await vi.waitUntil(() => state.mock.calls.length >= 4);
    await counter.changed();
    const due = await runInDurableObject(counter, (_, { storage }) => storage.getAlarm());
    expect((due ?? 0) - Date.now()).toBeLessThanOrEqual(PUBLISH_INTERVAL_MS);
    state.mockRestore();
    await receivesTotal(viewer, poll, 1);
  });

  test("who have just opened a channel receive the tally of a vote that follows immediately", async () => {
    const own = await newSite();
    const poll = await newPoll({}, own);
    const viewer = await connectViewer(own.channels[0], own);
    await vote(poll, own.accounts.viewer.id, 0, "first", own);
    await receivesTotal(viewer, poll, 1);
  });

  test.for(["the whole site", "one channel"])(
    "who connect after the last vote receive the tally of a poll of %s, once",
    async (audience) => {
      const own = await newSite();
      const poll = await newPoll({}, own);
      if (audience === "one channel") await addToSidebar(poll, own);
      const first = await connectViewer(own.channels[0], own);
      await vote(poll, own.accounts.viewer.id, 1, "first", own);
      await receivesTotal(first, poll, 1);
      for (const stub of ["relay", "channel", "presence"]) {
        if (stub === "relay") await evict(env.RELAY.getByName(`${own.id}:${own.channels[0]}:0`));
        if (stub === "channel") await evict(env.CHANNEL.getByName(`${own.id}:${own.channels[0]}`));
        if (stub === "presence") await evict(env.SITE_PRESENCE.getByName(own.id));
        const late = await connectViewer(own.channels[0], own);
        await receivesTotal(late, poll, 1);
        await late.first("concurrents");
        expect(updatesOf(late, poll)).toHaveLength(1);
      }
    },
  );

  test("who connect after a poll was deleted don't receive its tally", async () => {
    const own = await newSite();
    const poll = await newPoll({}, own);
    const first = await connectViewer(own.channels[0], own);
    await vote(poll, own.accounts.viewer.id, 1, "first", own);
    await receivesTotal(first, poll, 1);
    await siteStore.prepare("DELETE FROM polls WHERE id = ?").bind(poll._id).run();
    await syncCounters(env, own.id, poll._id);
    const late = await connectViewer(own.channels[0], own);
    await late.first("concurrents");
    expect(updatesOf(late, poll)).toEqual([]);
  });

  test("don't receive the counts while the poll hides its results", async () => {
    const poll = await newPoll({ hideResults: true });
    await addToSidebar(poll);
    const viewer = await connectViewer(site.channels[0]);
    await vote(poll, (await crowd(1))[0] ?? "");
    await receivesTotal(viewer, poll, 1);
    expect(JSON.stringify(updatesOf(viewer, poll))).not.toContain("responses");
    await patch(poll, { open: false });
    await viewer.when((frame) => frame.type === "poll.updated" && frame.data.pollId === poll._id && frame.data.hidden === false);
    expect(updatesOf(viewer, poll).at(-1)).toMatchObject({ answers: [{ responses: 1 }, { responses: 0 }, { responses: 0 }] });
  });
});
