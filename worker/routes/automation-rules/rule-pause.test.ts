import { expect, test, vi } from "vitest";
import { newSite, openSocket, type TestSite } from "#test/harness.ts";
import { committedEvents } from "#test/committed-events.ts";
import {
  goal,
  newDataProvider,
  newRule,
  newTemplate,
  type RuleChange,
  ruleOf,
  sendProviderEvent,
  type TestProvider,
} from "#test/providers.ts";
import { listOf } from "#worker/services/core/list-schemas.ts";
import { ReceivedEvent, ProviderEvent } from "#worker/services/data-providers/schemas.ts";
import { RulePause } from "#worker/services/automation-rules/schemas.ts";
import type { ServerFrame } from "#worker/durable-objects/relay/relay.protocol.ts";

async function start(change: RuleChange = {}): Promise<{ site: TestSite; provider: TestProvider; addRule: () => Promise<string> }> {
  const site = await newSite();
  const provider = await newDataProvider(site);
  const rule = ruleOf(site, provider, await newTemplate(site), change);
  return { site, provider, addRule: () => newRule(site, rule) };
}

async function pause(site: TestSite, paused: boolean, channelId = site.channels[0]): Promise<RulePause> {
  return (await site.call("setRulePause", { params: { channelId }, body: { paused } })).as(RulePause);
}

async function firedBy(site: TestSite, provider: TestProvider, event: Record<string, unknown>) {
  const { eventId } = (await sendProviderEvent(site, provider, event)).as(ReceivedEvent);
  const { results } = (await site.call("listProviderEvents", { params: { providerId: provider.id } })).as(listOf(ProviderEvent));
  return results.find((one) => one._id === eventId)?.fired;
}

test("paused rules of a channel do nothing, are logged as dropped, and apply again to what happens after they resume", async () => {
  const { site, provider, addRule } = await start();
  await addRule();
  expect(await pause(site, true)).toMatchObject({ paused: true });
  const viewer = await openSocket(site, site.channels[0]);
  await viewer.first("welcome");
  expect(await firedBy(site, provider, goal(1))).toMatchObject([
    { outcome: "dropped", message: "The rules of the channel are paused", madeId: null },
  ]);
  expect(await pause(site, false)).toEqual({ channelId: site.channels[0], paused: false, since: null });
  // The condition is still true: what happened meanwhile isn't made up for.
  expect(await firedBy(site, provider, goal(2))).toEqual([]);
  await firedBy(site, provider, goal(0));
  expect(await firedBy(site, provider, goal(1))).toMatchObject([{ outcome: "sent" }]);
  await viewer.first("overlay.show");
  expect(viewer.frames.filter(({ type }) => type === "overlay.show")).toHaveLength(1);
});

test("a rule for all channels leaves out those whose rules are paused", async () => {
  const { site, provider, addRule } = await start({ channelId: null, targeting: { scope: "all_channels" } });
  await addRule();
  const quiet = site.channels[0];
  const other = await site.addChannel("without-pause");
  await pause(site, true, quiet);
  const viewers = await Promise.all([quiet, other].map((channelId) => openSocket(site, channelId)));
  await Promise.all(viewers.map((viewer) => viewer.first("welcome")));
  expect(await firedBy(site, provider, goal(1))).toMatchObject([{ outcome: "sent", message: `Paused on ${quiet}` }]);
  const [first, second] = viewers;
  await second?.first("overlay.show");
  expect(first?.frames.some(({ type }) => type === "overlay.show")).toBe(false);
});

test("viewers' pages lose the client rules of a paused channel, and get them back", async () => {
  const { site, addRule } = await start({ clientRule: true });
  const viewer = await openSocket(site, site.channels[0]);
  await viewer.first("welcome");
  await addRule();
  await vi.waitFor(() => expect(rulesOf(viewer.frames)).toEqual([true]));
  await pause(site, true);
  await vi.waitFor(() => expect(rulesOf(viewer.frames)).toEqual([true, false]));
  await pause(site, false);
  await vi.waitFor(() => expect(rulesOf(viewer.frames)).toEqual([true, false, true]));
});

test("pausing twice changes nothing, and emits one event", async () => {
  const { site } = await start();
  const first = await pause(site, true);
  expect(await pause(site, true)).toEqual(first);
  expect((await site.call("getRulePause", { params: { channelId: site.channels[0] } })).as(RulePause)).toEqual(first);
  await pause(site, false);
  await vi.waitFor(async () => {
    const types = (await committedEvents([site.id])).map(({ type }) => type).filter((type) => type.startsWith("personalization."));
    expect(types).toEqual(["personalization.rulesPaused", "personalization.rulesResumed"]);
  });
});

function rulesOf(frames: ServerFrame[]): unknown[] {
  return frames.flatMap((frame) => (frame.type === "rule" ? [frame.data["active"]] : []));
}
