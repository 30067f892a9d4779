import { abortAllDurableObjects, runDurableObjectAlarm, runInDurableObject } from "cloudflare:test";
import { env } from "cloudflare:workers";
import { expect, test, vi } from "vitest";
import { Automation } from "#worker/durable-objects/automation.ts";
import { Channel } from "#worker/durable-objects/channel/channel.ts";
import { listOf } from "#worker/services/core/list-schemas.ts";
import { newId } from "#worker/lib/ids.ts";
import { ActiveBroadcast } from "#worker/services/overlays/schemas.ts";
import { ProviderEvent, ReceivedEvent } from "#worker/services/data-providers/schemas.ts";
import { runScheduled } from "#worker/scheduled.ts";
import { newSite, openSocket, type TestSite } from "../harness.ts";
import {
  automation,
  copyRule,
  dataProviderInput,
  goal,
  newDataProvider,
  newRule,
  newTemplate,
  type RuleChange,
  ruleOf,
  signatureOf,
  sendProviderEvent,
  type TestProvider,
} from "../providers.ts";
import { runAlarmAt, type TestViewer } from "./relay-viewer.ts";
import { failNextBatch } from "#test/next-batch.ts";
import { siteStore } from "#test/site-store.ts";

const Events = listOf(ProviderEvent);
const DELAY_SECONDS = 60;

interface Setup {
  site: TestSite;
  provider: TestProvider;
  ruleId: string;
}

async function setUp(change: RuleChange = {}): Promise<Setup> {
  const site = await newSite();
  const provider = await newDataProvider(site);
  return { site, provider, ruleId: await newRule(site, ruleOf(site, provider, await newTemplate(site), change)) };
}

async function firedOf({ site, provider }: Omit<Setup, "ruleId">) {
  const { results } = (await site.call("listProviderEvents", { params: { providerId: provider.id } })).as(Events);
  return results.flatMap(({ fired }) => fired);
}

/** The overlays that the viewer has received, after everything published so far has arrived. */
async function overlaysOf(viewer: TestViewer, { site }: Setup) {
  const channel = env.CHANNEL.getByName(`${site.id}:${site.channels[0]}`);
  const { seq } = await channel.emit({ id: crypto.randomUUID(), type: "page.updated", data: {} });
  await viewer.waitForSeq(seq);
  return viewer.frames.filter((frame) => frame.type === "overlay.show");
}

async function watch({ site }: Setup): Promise<TestViewer> {
  const viewer = await openSocket(site, site.channels[0]);
  await viewer.first("welcome");
  return viewer;
}

/** Runs the automation's alarm at the end of a rule's delay. */
function runAfterDelay({ site }: Setup): Promise<void> {
  return runAlarmAt(automation(site), Date.now() + DELAY_SECONDS * 1000);
}

/** The number of pending firings. */
function pending({ site }: Setup): Promise<number> {
  return runInDurableObject(automation(site), (_, state) => state.storage.sql.exec("SELECT 1 FROM firings").toArray().length);
}

test("an event whose request died before it called the automation fires through the site's log", async () => {
  const on = await setUp();
  const viewer = await watch(on);
  vi.spyOn(Automation.prototype, "handle").mockRejectedValueOnce(new Error("died"));
  await sendProviderEvent(on.site, on.provider, goal(1));
  await viewer.first("overlay.show");
  expect(await overlaysOf(viewer, on)).toHaveLength(1);
  expect(await firedOf(on)).toMatchObject([{ outcome: "sent" }]);
});

test("an event that its provider repeats after the first request died fires before the response", async () => {
  const on = await setUp();
  vi.spyOn(Automation.prototype, "handle").mockRejectedValue(new Error("died"));
  const first = await sendProviderEvent(on.site, on.provider, goal(1), { "Tifo-Event-Id": "goal-1" });
  expect(await firedOf(on)).toEqual([]);
  vi.restoreAllMocks();
  const again = await sendProviderEvent(on.site, on.provider, goal(1), { "Tifo-Event-Id": "goal-1" });
  expect([first.status, again.status]).toEqual([202, 200]);
  expect(again.as(ReceivedEvent).eventId).toBe(first.as(ReceivedEvent).eventId);
  expect(await firedOf(on)).toMatchObject([{ outcome: "sent" }]);
});

test("an automation that died between deciding and sending continues with its alarm, and sends nothing twice", async () => {
  const on = await setUp();
  await sendProviderEvent(on.site, on.provider, goal(0));
  const event = { id: newId(Date.now()), providerId: on.provider.id, at: Date.now(), data: goal(1) };
  const batch = failNextBatch(on.ruleId, "died");
  await automation(on.site).handle(event);
  expect(batch.isOver).toBe(true);
  expect(await pending(on)).toBe(1);
  await abortAllDurableObjects();
  vi.restoreAllMocks();
  // Makes the retry due.
  await runInDurableObject(automation(on.site), (_, state) => state.storage.sql.exec("UPDATE firings SET next = 0"));
  expect(await runDurableObjectAlarm(automation(on.site))).toBe(true);
  expect(await pending(on)).toBe(0);
  await automation(on.site).handle(event);
  const sent = await env.CHANNEL.getByName(`${on.site.id}:${on.site.channels[0]}`).active();
  expect(sent).toHaveLength(1);
});

test("an event that matches 250 rules makes all of them fire at once", async () => {
  const on = await setUp();
  await copyRule(on.ruleId, 249);
  await automation(on.site).refresh();
  await automation(on.site).handle({ id: newId(Date.now()), providerId: on.provider.id, at: Date.now(), data: goal(1) });
  expect(await pending(on)).toBe(0);
  expect(await env.CHANNEL.getByName(`${on.site.id}:${on.site.channels[0]}`).active()).toHaveLength(250);
});

test("the facts of a provider that registers after another one's events are remembered from its first event on", async () => {
  const { site, provider } = await setUp();
  await sendProviderEvent(site, provider, goal(0));
  const second = await newDataProvider(site);
  await sendProviderEvent(site, second, goal(2));
  await newRule(site, ruleOf(site, second, await newTemplate(site), { trigger: { operator: "equals", value: 2 } }));
  await sendProviderEvent(site, second, goal(2));
  expect(await firedOf({ site, provider: second })).toEqual([]);
});

test("an immediate rule fires even if scheduling a delayed rule can't be recorded, and the delayed rule still fires on time", async () => {
  const on = await setUp();
  const delayed = { trigger: { behavior: "delayed", delaySeconds: DELAY_SECONDS } };
  const late = await newRule(on.site, ruleOf(on.site, on.provider, await newTemplate(on.site), delayed));
  const condition = `NEW.rule_id = '${late}' AND NEW.outcome = 'scheduled'`;
  await siteStore.exec(`CREATE TRIGGER reject BEFORE INSERT ON rule_firings WHEN ${condition} BEGIN SELECT RAISE(ABORT, 'rejected'); END`);
  await automation(on.site).handle({ id: newId(Date.now()), providerId: on.provider.id, at: Date.now(), data: goal(1) });
  await siteStore.exec("DROP TRIGGER reject");
  const channel = env.CHANNEL.getByName(`${on.site.id}:${on.site.channels[0]}`);
  expect(await channel.active()).toHaveLength(1);
  await runAfterDelay(on);
  expect(await channel.active()).toHaveLength(2);
});

test("a rule whose fact was removed from the provider's schema still fires only when its condition becomes true", async () => {
  const on = await setUp({ trigger: { operator: "equals", value: 2 } });
  await sendProviderEvent(on.site, on.provider, goal(0));
  const body = dataProviderInput({ schema: { type: "object" } });
  const headers = await signatureOf(on.provider.secret, JSON.stringify(body));
  await on.site.call("updateDataProvider", { as: "client", params: { id: on.provider.id }, body, headers });
  for (let times = 0; times < 3; times++) await sendProviderEvent(on.site, on.provider, goal(2));
  expect(await firedOf(on)).toMatchObject([{ outcome: "sent" }]);
});

test("an event that is handled after its overlay would have ended shows the overlay for its full duration", async () => {
  const on = await setUp();
  const viewer = await watch(on);
  const before = Date.now();
  const at = before - 700_000;
  await automation(on.site).handle({ id: newId(at), providerId: on.provider.id, at, data: goal(1) });
  const frame = await viewer.first("overlay.show");
  expect(frame.startsAt).toBeGreaterThanOrEqual(before);
  expect(frame.endsAt - frame.startsAt).toBe(600_000);
  const { results } = (await on.site.call("listBroadcasts")).as(listOf(ActiveBroadcast));
  expect(results).toMatchObject([{ broadcastId: frame.broadcastId, startsAt: frame.startsAt, endsAt: frame.endsAt }]);
});

test("an event is remembered for longer than its row is kept, however many follow it", async () => {
  const { site, provider } = await setUp();
  const stub = automation(site);
  const send = (at: number) => stub.handle({ id: newId(at), providerId: provider.id, at, data: {} });
  const now = Date.now();
  await send(now - 9 * 86_400_000);
  await send(now - 7.5 * 86_400_000);
  for (let count = 2; count < 256; count++) await send(now);
  const oldest = await runInDurableObject(stub, (_, { storage }) => storage.sql.exec("SELECT min(at) AS at FROM handled").one());
  expect(oldest).toEqual({ at: now - 7.5 * 86_400_000 });
});

test("a firing that is repeated after its broadcast was sent shows nothing new", async () => {
  const on = await setUp();
  const viewer = await watch(on);
  const { eventId } = (await sendProviderEvent(on.site, on.provider, goal(1))).as(ReceivedEvent);
  const [before] = await overlaysOf(viewer, on);
  await runInDurableObject(automation(on.site), (_, state) => {
    const event = JSON.stringify({ id: eventId, providerId: on.provider.id, at: Date.now(), data: goal(1) });
    const insert = "INSERT INTO firings (event_id, rule_id, due, next, event) VALUES (?, ?, ?, 0, ?)";
    state.storage.sql.exec(insert, eventId, on.ruleId, Date.now(), event);
    return state.storage.setAlarm(Date.now() + 60_000);
  });
  expect(await runDurableObjectAlarm(automation(on.site))).toBe(true);
  expect(await pending(on)).toBe(0);
  expect(await overlaysOf(viewer, on)).toEqual([before]);
});

test("a delayed rule is reported as scheduled, fires with the alarm and not before, and only if it still exists", async () => {
  const on = await setUp({ trigger: { behavior: "delayed", delaySeconds: DELAY_SECONDS } });
  const channel = env.CHANNEL.getByName(`${on.site.id}:${on.site.channels[0]}`);
  const outcomes = async (): Promise<string[]> => (await firedOf(on)).map(({ outcome }) => outcome).sort();
  await sendProviderEvent(on.site, on.provider, goal(1));
  const fired = await firedOf(on);
  expect(fired).toMatchObject([{ outcome: "scheduled" }]);
  await runDurableObjectAlarm(automation(on.site));
  expect(await outcomes()).toEqual(["scheduled"]);
  await runAfterDelay(on);
  expect(await outcomes()).toEqual(["sent"]);
  expect(await channel.active()).toHaveLength(1);
  await sendProviderEvent(on.site, on.provider, goal(0));
  await sendProviderEvent(on.site, on.provider, goal(2));
  await on.site.call("deleteAutomationRule", { params: { id: on.ruleId } });
  await runAfterDelay(on);
  expect(await outcomes()).toEqual(["dropped", "sent"]);
  expect(await channel.active()).toHaveLength(1);
});

test("a broadcast that was committed but never reached its channel is delivered by the log, once", async () => {
  const on = await setUp();
  const viewer = await watch(on);
  vi.spyOn(Channel.prototype, "publish").mockRejectedValueOnce(new Error("died"));
  await sendProviderEvent(on.site, on.provider, goal(1));
  await runScheduled(env, Date.now() + 6_000);
  await env.SITE_LOG.getByName(on.site.id).nudge();
  await viewer.first("overlay.show");
  expect(await overlaysOf(viewer, on)).toHaveLength(1);
});
