import { abortAllDurableObjects, runDurableObjectAlarm, runInDurableObject } from "cloudflare:test";
import { env } from "cloudflare:workers";
import { afterEach, expect, test, vi } from "vitest";
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

const Events = listOf(ProviderEvent);
const DELAY_SECONDS = 60;

afterEach(() => {
  vi.restoreAllMocks();
});

interface Stage {
  site: TestSite;
  provider: TestProvider;
  ruleId: string;
}

async function stage(change: RuleChange = {}): Promise<Stage> {
  const site = await newSite();
  const provider = await newDataProvider(site);
  return { site, provider, ruleId: await newRule(site, ruleOf(site, provider, await newTemplate(site), change)) };
}

async function firedOf({ site, provider }: Omit<Stage, "ruleId">) {
  const { results } = (await site.call("listProviderEvents", { params: { providerId: provider.id } })).as(Events);
  return results.flatMap(({ fired }) => fired);
}

/** What the first channel has been sent, once all that was published has arrived. */
async function shownTo(viewer: TestViewer, { site }: Stage) {
  const channel = env.CHANNEL.getByName(`${site.id}:${site.channels[0]}`);
  const { seq } = await channel.emit({ id: crypto.randomUUID(), type: "page.updated", data: {} });
  await viewer.waitForSeq(seq);
  return viewer.frames.filter((frame) => frame.type === "overlay.show");
}

async function watch({ site }: Stage): Promise<TestViewer> {
  const viewer = await openSocket(site, site.channels[0]);
  await viewer.first("welcome");
  return viewer;
}

/** Has the automation do what a delayed rule has left for later. */
function delayIsOver({ site }: Stage): Promise<void> {
  return runAlarmAt(automation(site), Date.now() + DELAY_SECONDS * 1000);
}

/** How many firings the object has yet to do. */
function pending({ site }: Stage): Promise<number> {
  return runInDurableObject(automation(site), (_, state) => state.storage.sql.exec("SELECT 1 FROM firings").toArray().length);
}

test("an event whose request died before the automation heard of it fires through the site's log", async () => {
  const on = await stage();
  const viewer = await watch(on);
  vi.spyOn(Automation.prototype, "handle").mockRejectedValueOnce(new Error("died"));
  await sendProviderEvent(on.site, on.provider, goal(1));
  await viewer.first("overlay.show");
  expect(await shownTo(viewer, on)).toHaveLength(1);
  expect(await firedOf(on)).toMatchObject([{ outcome: "sent" }]);
});

test("an event that its provider repeats after the first request died fires before anything else is told", async () => {
  const on = await stage();
  vi.spyOn(Automation.prototype, "handle").mockRejectedValue(new Error("died"));
  const first = await sendProviderEvent(on.site, on.provider, goal(1), { "Tifo-Event-Id": "goal-1" });
  expect(await firedOf(on)).toEqual([]);
  vi.restoreAllMocks();
  const again = await sendProviderEvent(on.site, on.provider, goal(1), { "Tifo-Event-Id": "goal-1" });
  expect([first.status, again.status]).toEqual([202, 200]);
  expect(again.as(ReceivedEvent).eventId).toBe(first.as(ReceivedEvent).eventId);
  expect(await firedOf(on)).toMatchObject([{ outcome: "sent" }]);
});

test("an automation that died between deciding and sending goes on by its alarm, and what it had sent is not sent again", async () => {
  const on = await stage();
  await sendProviderEvent(on.site, on.provider, goal(0));
  const event = { id: newId(Date.now()), providerId: on.provider.id, at: Date.now(), data: goal(1) };
  const prepare = vi.spyOn(env.DB, "batch").mockRejectedValueOnce(new Error("died"));
  await automation(on.site).handle(event);
  expect(prepare).toHaveBeenCalled();
  expect(await pending(on)).toBe(1);
  await abortAllDurableObjects();
  vi.restoreAllMocks();
  // As if its time had come.
  await runInDurableObject(automation(on.site), (_, state) => state.storage.sql.exec("UPDATE firings SET next = 0"));
  expect(await runDurableObjectAlarm(automation(on.site))).toBe(true);
  expect(await pending(on)).toBe(0);
  await automation(on.site).handle(event);
  const sent = await env.CHANNEL.getByName(`${on.site.id}:${on.site.channels[0]}`).active();
  expect(sent).toHaveLength(1);
});

test("an event that 250 rules wait for makes all of them fire at once", async () => {
  const on = await stage();
  await copyRule(on.ruleId, 249);
  await automation(on.site).refresh();
  await automation(on.site).handle({ id: newId(Date.now()), providerId: on.provider.id, at: Date.now(), data: goal(1) });
  expect(await pending(on)).toBe(0);
  expect(await env.CHANNEL.getByName(`${on.site.id}:${on.site.channels[0]}`).active()).toHaveLength(250);
});

test("a provider that registers after another one's events has its facts remembered from its first event on", async () => {
  const { site, provider } = await stage();
  await sendProviderEvent(site, provider, goal(0));
  const second = await newDataProvider(site);
  await sendProviderEvent(site, second, goal(2));
  await newRule(site, ruleOf(site, second, await newTemplate(site), { trigger: { operator: "equals", value: 2 } }));
  await sendProviderEvent(site, second, goal(2));
  expect(await firedOf({ site, provider: second })).toEqual([]);
});

test("an immediate rule fires also when it can't be noted that a delayed one is scheduled, and that one fires in its time", async () => {
  const on = await stage();
  const delayed = { trigger: { behavior: "delayed", delaySeconds: DELAY_SECONDS } };
  const late = await newRule(on.site, ruleOf(on.site, on.provider, await newTemplate(on.site), delayed));
  const when = `NEW.rule_id = '${late}' AND NEW.outcome = 'scheduled'`;
  await env.DB.exec(`CREATE TRIGGER refuse BEFORE INSERT ON rule_firings WHEN ${when} BEGIN SELECT RAISE(ABORT, 'refused'); END`);
  await automation(on.site).handle({ id: newId(Date.now()), providerId: on.provider.id, at: Date.now(), data: goal(1) });
  await env.DB.exec("DROP TRIGGER refuse");
  const channel = env.CHANNEL.getByName(`${on.site.id}:${on.site.channels[0]}`);
  expect(await channel.active()).toHaveLength(1);
  await delayIsOver(on);
  expect(await channel.active()).toHaveLength(2);
});

test("a rule whose fact the provider took from its schema still fires on the edge alone", async () => {
  const on = await stage({ trigger: { operator: "equals", value: 2 } });
  await sendProviderEvent(on.site, on.provider, goal(0));
  const body = dataProviderInput({ schema: { type: "object" } });
  const headers = await signatureOf(on.provider.secret, JSON.stringify(body));
  await on.site.call("updateDataProvider", { as: "client", params: { id: on.provider.id }, body, headers });
  for (let told = 0; told < 3; told++) await sendProviderEvent(on.site, on.provider, goal(2));
  expect(await firedOf(on)).toMatchObject([{ outcome: "sent" }]);
});

test("an event that comes to be handled after its overlay's time shows the overlay for all of its time", async () => {
  const on = await stage();
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

test("an event is known for longer than its row is kept, however many come after it", async () => {
  const { site, provider } = await stage();
  const stub = automation(site);
  const send = (at: number) => stub.handle({ id: newId(at), providerId: provider.id, at, data: {} });
  const now = Date.now();
  await send(now - 9 * 86_400_000);
  await send(now - 7.5 * 86_400_000);
  for (let count = 2; count < 256; count++) await send(now);
  const oldest = await runInDurableObject(stub, (_, { storage }) => storage.sql.exec("SELECT min(at) AS at FROM handled").one());
  expect(oldest).toEqual({ at: now - 7.5 * 86_400_000 });
});

test("a firing that is done anew after its broadcast was sent shows nothing new", async () => {
  const on = await stage();
  const viewer = await watch(on);
  const { eventId } = (await sendProviderEvent(on.site, on.provider, goal(1))).as(ReceivedEvent);
  const [before] = await shownTo(viewer, on);
  await runInDurableObject(automation(on.site), (_, state) => {
    const event = JSON.stringify({ id: eventId, providerId: on.provider.id, at: Date.now(), data: goal(1) });
    const insert = "INSERT INTO firings (event_id, rule_id, due, next, event) VALUES (?, ?, ?, 0, ?)";
    state.storage.sql.exec(insert, eventId, on.ruleId, Date.now(), event);
    return state.storage.setAlarm(Date.now() + 60_000);
  });
  expect(await runDurableObjectAlarm(automation(on.site))).toBe(true);
  expect(await pending(on)).toBe(0);
  expect(await shownTo(viewer, on)).toEqual([before]);
});

test("a delayed rule says that it is scheduled, fires by the alarm and not before, and only if it is still on", async () => {
  const on = await stage({ trigger: { behavior: "delayed", delaySeconds: DELAY_SECONDS } });
  const channel = env.CHANNEL.getByName(`${on.site.id}:${on.site.channels[0]}`);
  const outcomes = async (): Promise<string[]> => (await firedOf(on)).map(({ outcome }) => outcome).sort();
  await sendProviderEvent(on.site, on.provider, goal(1));
  const fired = await firedOf(on);
  expect(fired).toMatchObject([{ outcome: "scheduled" }]);
  await runDurableObjectAlarm(automation(on.site));
  expect(await outcomes()).toEqual(["scheduled"]);
  await delayIsOver(on);
  expect(await outcomes()).toEqual(["sent"]);
  expect(await channel.active()).toHaveLength(1);
  await sendProviderEvent(on.site, on.provider, goal(0));
  await sendProviderEvent(on.site, on.provider, goal(2));
  await on.site.call("deleteAutomationRule", { params: { id: on.ruleId } });
  await delayIsOver(on);
  expect(await outcomes()).toEqual(["dropped", "sent"]);
  expect(await channel.active()).toHaveLength(1);
});

test("a broadcast that was committed but never reached its channel is brought by the log, once", async () => {
  const on = await stage();
  const viewer = await watch(on);
  vi.spyOn(Channel.prototype, "publish").mockRejectedValueOnce(new Error("died"));
  await sendProviderEvent(on.site, on.provider, goal(1));
  await runScheduled(env, Date.now() + 6_000);
  await env.SITE_LOG.getByName(on.site.id).nudge();
  await viewer.first("overlay.show");
  expect(await shownTo(viewer, on)).toHaveLength(1);
});
