import { runInDurableObject } from "cloudflare:test";
import { env } from "cloudflare:workers";
import { describe, expect, test, vi } from "vitest";
import { waitForViewerCount, newSite, openSocket, type TestSite } from "#test/harness.ts";
import {
  automation,
  goal,
  newDataProvider,
  newRule,
  newTemplate,
  type RuleChange,
  ruleOf,
  sendProviderEvent,
  type TestProvider,
} from "#test/providers.ts";
import type { TestViewer } from "#test/isolated/relay-viewer.ts";
import { listOf } from "#worker/services/core/list-schemas.ts";
import { Channel } from "#worker/durable-objects/channel/channel.ts";
import { ProviderEvent, ReceivedEvent } from "#worker/services/data-providers/schemas.ts";
import { ChannelTemplate } from "#worker/services/pages/template-schemas.ts";
import { Ticket } from "#worker/services/realtime/schemas.ts";
import { Page } from "#worker/services/pages/schemas.ts";
import { ActiveBroadcast } from "#worker/services/overlays/schemas.ts";
import { CreatedRule, RuleWithLog } from "#worker/services/automation-rules/schemas.ts";

const Events = listOf(ProviderEvent);

/** Each test has its own site, so that firings don't leak between tests. */
let site: TestSite;
let provider: TestProvider;
let template: string;

async function start(): Promise<void> {
  site = await newSite();
  provider = await newDataProvider(site);
  template = await newTemplate(site);
}

const rule = (change: RuleChange = {}): Promise<string> => newRule(site, ruleOf(site, provider, template, change));

async function watch(channelId = site.channels[0], as?: "viewer"): Promise<TestViewer> {
  const ticket = as && (await site.call("createTicket", { as, body: { channelId } }));
  const viewer = await openSocket(site, channelId, ticket && { ticket: ticket.as(Ticket).ticket });
  await viewer.first("welcome");
  return viewer;
}

const shown = (viewer: TestViewer) => viewer.frames.filter((frame) => frame.type === "overlay.show");

/** Sends an event and returns the firings that it caused. */
async function firedBy(event: Record<string, unknown>) {
  const { eventId } = (await sendProviderEvent(site, provider, event)).as(ReceivedEvent);
  const { results } = (await site.call("listProviderEvents", { params: { providerId: provider.id } })).as(Events);
  return results.find((one) => one._id === eventId)?.fired ?? [];
}

/** Resolves when the viewer has received everything sent to its channel so far. */
async function settled(viewer: TestViewer, channelId = site.channels[0]): Promise<void> {
  const { seq } = await env.CHANNEL.getByName(`${site.id}:${channelId}`).emit({ id: crypto.randomUUID(), type: "page.updated", data: {} });
  await viewer.waitForSeq(seq);
}

describe("a provider event", () => {
  test("shows the overlay with the event's values, and is in every log", async () => {
    await start();
    const id = await rule({
      action: { timecodeMapping: { type: "dynamic", value: "match.minute" }, broadcastPayload: { sound: "horn" } },
    });
    const viewer = await watch();
    const fired = await firedBy(goal(1));
    const frame = await viewer.first("overlay.show");
    expect(frame).toMatchObject({
      overlayId: template,
      contents: [{ kind: "html", html: "Ada Moreno" }],
      priority: 5,
      timecode: 17,
      broadcastPayload: { sound: "horn" },
    });
    expect(frame.segment).toBeUndefined();
    expect(fired).toMatchObject([{ ruleId: id, name: "Home goal", outcome: "sent", message: null, madeId: frame.broadcastId }]);
    const { log } = (await site.call("getAutomationRule", { params: { id } })).as(RuleWithLog);
    expect(log).toMatchObject([{ outcome: "sent", madeId: frame.broadcastId }]);
    const active = (await site.call("listBroadcasts")).as(listOf(ActiveBroadcast)).results;
    expect(active).toMatchObject([{ broadcastId: frame.broadcastId, channelId: site.channels[0] }]);
  });

  test("fires a rule when its condition becomes true, not while it stays true", async () => {
    await start();
    await rule({ trigger: { operator: "equals", value: 2 } });
    const counts: number[] = [];
    for (const score of [0, 2, 2, 1, 2, 3]) counts.push((await firedBy(goal(score))).length);
    expect(counts).toEqual([0, 1, 0, 0, 1, 0]);
  });

  test("that is delivered again, by the provider or the log, doesn't fire again", async () => {
    await start();
    await rule();
    const viewer = await watch();
    const headers = { "Tifo-Event-Id": "goal-1" };
    const { eventId } = (await sendProviderEvent(site, provider, goal(1), headers)).as(ReceivedEvent);
    await sendProviderEvent(site, provider, goal(1), headers);
    await automation(site).handle({ id: eventId, providerId: provider.id, at: Date.now(), data: goal(1) });
    await settled(viewer);
    expect(shown(viewer)).toHaveLength(1);
  });

  test("applies rules immediately after they are created, updated, deactivated or deleted", async () => {
    await start();
    expect(await firedBy(goal(1))).toEqual([]);
    await firedBy(goal(0));
    const id = await rule();
    expect(await firedBy(goal(1))).toHaveLength(1);
    const { jsonRule } = ruleOf(site, provider, template, { trigger: { value: 5 } });
    await site.call("updateAutomationRule", { params: { id }, body: { jsonRule } });
    await firedBy(goal(0));
    expect(await firedBy(goal(2))).toEqual([]);
    expect(await firedBy(goal(6))).toHaveLength(1);
    await site.call("updateAutomationRule", { params: { id }, body: { jsonRule, active: false } });
    await firedBy(goal(0));
    expect(await firedBy(goal(6))).toEqual([]);
    await site.call("updateAutomationRule", { params: { id }, body: { jsonRule, active: true } });
    await site.call("deleteAutomationRule", { params: { id } });
    await firedBy(goal(0));
    expect(await firedBy(goal(6))).toEqual([]);
  });

  test("fires again after its fact has expired", async () => {
    await start();
    const stale = await newDataProvider(site, { ttl: 60 });
    await newRule(site, ruleOf(site, stale, template));
    const at = Date.now();
    const send = (seconds: number) => {
      const now = at + seconds * 1000;
      const id = now.toString(16).padStart(12, "0") + "0".repeat(12);
      return automation(site).handle({ id, providerId: stale.id, at: now, data: goal(1) });
    };
    const viewer = await watch();
    for (const seconds of [-200, -150, -145]) await send(seconds);
    await settled(viewer);
    expect(shown(viewer)).toHaveLength(1);
    await send(-80);
    await settled(viewer);
    expect(shown(viewer)).toHaveLength(2);
  });

  test("without a required value fails that rule, with a log entry, and no other", async () => {
    await start();
    const broken = await rule({ name: "Broken" });
    const sound = await rule({ name: "Sound", action: { variableMapping: { scorer: { type: "static", value: "Somebody" } } } });
    const fired = await firedBy(goal(1, { scorer: undefined }));
    expect(fired).toHaveLength(2);
    expect(fired.find(({ ruleId }) => ruleId === broken)).toMatchObject({
      outcome: "failed",
      message: "The event has no value at match.scorer",
    });
    expect(fired.find(({ ruleId }) => ruleId === sound)).toMatchObject({ outcome: "sent" });
  });

  test("fails a rule whose variable isn't a plain value, where the schema leaves its type open", async () => {
    await start();
    provider = await newDataProvider(site, { schema: { type: "object", properties: { minute: { type: "integer" }, anything: {} } } });
    const variableMapping = { scorer: { type: "dynamic", value: "anything" } };
    await rule({ trigger: { fact: "minute", operator: "greater_than", value: 0 }, action: { variableMapping } });
    expect(await firedBy({ minute: 1, anything: ["Ada"] })).toMatchObject([
      { outcome: "failed", message: "The variable scorer must be a string, number or boolean" },
    ]);
  });

  test("that would cause a broadcast larger than 128 kB fails its rule, once", async () => {
    await start();
    template = await newTemplate(site, "{{scorer}}".repeat(6_000));
    const id = await rule();
    expect(await firedBy(goal(1, { scorer: "x".repeat(10_000) }))).toMatchObject([{ outcome: "failed" }]);
    const { log } = (await site.call("getAutomationRule", { params: { id } })).as(RuleWithLog);
    expect(log).toMatchObject([{ outcome: "failed", message: "With its variables filled in, the broadcast is larger than 128 kB" }]);
    expect(await runInDurableObject(automation(site), (_, { storage }) => storage.sql.exec("SELECT 1 FROM firings").toArray())).toEqual([]);
  });

  test("fails only the rule whose template was deleted", async () => {
    await start();
    const other = await newTemplate(site);
    const broken = await newRule(site, ruleOf(site, provider, other));
    await rule();
    await site.call("deleteOverlay", { params: { id: other } });
    const fired = await firedBy(goal(1));
    expect(fired.map(({ ruleId, outcome }) => [ruleId === broken, outcome]).sort()).toEqual([
      [false, "sent"],
      [true, "failed"],
    ]);
  });

  test("is accepted even if a channel is unreachable; the event's effect delivers the overlay", async () => {
    await start();
    await rule();
    const viewer = await watch();
    vi.spyOn(Channel.prototype, "publish").mockRejectedValueOnce(new Error("out of reach"));
    expect((await sendProviderEvent(site, provider, goal(1))).status).toBe(202);
    await viewer.first("overlay.show");
    await settled(viewer);
    expect(shown(viewer)).toHaveLength(1);
  });
});

describe("targeting", () => {
  test("by ids, metadata or all channels reaches exactly those channels", async () => {
    await start();
    const [first, second] = site.channels;
    const hidden = await site.addChannel("hidden");
    const target = (value: unknown) => ({ type: "static", value });
    const cases: [string, Record<string, unknown>, string[]][] = [
      ["ids", { scope: "specific_channels", target: target([first, second]) }, [first, second]],
      ["metadata", { scope: "channel_metadata", target: target("match-7") }, [first]],
      ["dynamic", { scope: "channel_metadata", target: { type: "dynamic", value: "match.kind" } }, [first]],
      ["all", { scope: "all_channels" }, [first, second, hidden]],
      ["own", { scope: "channel" }, [first]],
    ];
    for (const [name, targeting] of cases) await rule({ name, targeting });
    const viewers = new Map(await Promise.all([first, second, hidden].map(async (id) => [id, await watch(id)] as const)));
    await waitForViewerCount(site, 3);
    const fired = await firedBy(goal(1, { kind: "match-7" }));
    expect(fired.map(({ outcome }) => outcome)).toEqual(cases.map(() => "sent"));
    for (const [channelId, viewer] of viewers) {
      await settled(viewer, channelId);
      const got = shown(viewer).map((frame) => frame.broadcastId);
      const expected = cases
        .filter(([, , channels]) => channels.includes(channelId))
        .map(([name]) => fired.find((one) => one.name === name)?.madeId);
      expect(got.sort(), channelId).toEqual(expected.sort());
    }
  });

  test("by ids reaches the existing channels, and reports the missing one", async () => {
    await start();
    const deleted = await site.addChannel("deleted");
    await rule({ targeting: { scope: "specific_channels", target: { type: "static", value: [site.channels[1], deleted] } } });
    await site.call("deletePage", { params: { id: deleted } });
    const viewer = await watch(site.channels[1]);
    expect(await firedBy(goal(1))).toMatchObject([{ outcome: "sent", message: `The site has no channel ${deleted}` }]);
    await viewer.first("overlay.show");
  });

  test("by tags shows one overlay to a viewer with several of them, and none to others", async () => {
    await start();
    const segment = "viewers_with_tags";
    const tags = [
      { type: "static", value: "team:home" },
      { type: "dynamic", value: "match.kind" },
    ];
    await rule({ targeting: { segment, tags } });
    const [fan, stranger] = [await watch(site.channels[0], "viewer"), await watch()];
    await firedBy(goal(1, { kind: "team:home" }));
    const frame = await fan.first("overlay.show");
    expect(frame.segment).toEqual({ tags: ["team:home"] });
    await firedBy(goal(0));
    await firedBy(goal(2, { kind: "tier:gold" }));
    await settled(fan);
    await settled(stranger);
    expect(shown(fan)).toHaveLength(2);
    expect(shown(stranger)).toEqual([]);
  });

  test("fails the rule for an invalid tag or a missing channel", async () => {
    await start();
    await rule({ name: "tag", targeting: { segment: "viewers_with_tags", tags: [{ type: "dynamic", value: "match.kind" }] } });
    await rule({ name: "ids", targeting: { scope: "specific_channels", target: { type: "dynamic", value: "match.kind" } } });
    await rule({ name: "metadata", targeting: { scope: "channel_metadata", target: { type: "dynamic", value: "match.kind" } } });
    const fired = await firedBy(goal(1, { kind: "nowhere" }));
    expect(fired.map(({ name, outcome, message }) => [name, outcome, message]).sort()).toEqual([
      ["ids", "failed", "The site has no such channel"],
      ["metadata", "failed", "The site has no such channel"],
      ["tag", "failed", 'A tag can\'t be "nowhere"'],
    ]);
  });
});

describe("a rule that creates a channel", () => {
  test("creates one per event, even if the event is handled several times", async () => {
    await start();
    const trigger = { dataProviderId: provider.id, fact: "match.score.home", operator: "equals", value: 1, behavior: "immediate" };
    const action = { type: "CREATE_CHANNEL", name: { type: "dynamic", value: "match.scorer" } };
    await site
      .call("createAutomationRule", { body: { name: "Studio", jsonRule: { trigger, action } } })
      .then((response) => response.as(CreatedRule));
    const [firing] = await firedBy(goal(1));
    expect(firing).toMatchObject({ outcome: "created" });
    const created = (await site.call("getPage", { params: { id: firing?.madeId ?? "" } })).as(Page);
    expect(created).toMatchObject({ type: "channel", data: { name: "Ada Moreno" } });
    const pages = (await site.call("listChannels")).as(listOf(Page)).results;
    expect(pages.filter((page) => page.data.name === "Ada Moreno")).toHaveLength(1);
  });
});

describe("client rules", () => {
  test("are in the welcome, and sent when they change; the server doesn't evaluate them", async () => {
    await start();
    const early = await watch();
    expect((await early.first("welcome")).rules).toEqual([]);
    const id = await rule({ clientRule: true });
    const elsewhere = await rule({ clientRule: true, channelId: site.channels[1], name: "Elsewhere" });
    const everywhere = await rule({ clientRule: true, channelId: null, targeting: { scope: "all_channels" } });
    const frame = await early.first("rule");
    expect(frame.data).toMatchObject({ _id: id, name: "Home goal", active: true, jsonRule: { trigger: { value: 0 } } });
    await early.when((one) => one.type === "rule" && one.data._id === everywhere);
    const rulesOf = async (channelId?: string) => (await (await watch(channelId)).first("welcome")).rules.map((one) => one.data._id);
    expect(await rulesOf()).toEqual([id, everywhere]);
    expect(await rulesOf(site.channels[1])).toEqual([elsewhere, everywhere]);
    expect(await firedBy(goal(1))).toEqual([]);
    await site.call("deleteAutomationRule", { params: { id } });
    const deleted = await early.when((one) => one.type === "rule" && one.data.active === false);
    expect(deleted).toMatchObject({ type: "rule", data: { _id: id } });
    expect(await rulesOf()).toEqual([everywhere]);
  });
});

describe("a channel created from a template", () => {
  test("gets its own copies of the template's rules", async () => {
    await start();
    const id = await rule();
    const created = await site.call("createChannelTemplate", {
      body: {
        title: "Match day",
        siteId: site.id,
        creator: site.accounts.admin.id,
        owner: site.accounts.admin.id,
        panels: [],
        rules: [id],
      },
    });
    const templateId = created.as(ChannelTemplate)._id;
    const page = (
      await site.call("createPage", { body: { type: "channel", slug: "second-half", data: { name: "Second half" }, templateId } })
    ).as(Page);
    const viewer = await watch(page._id);
    const fired = await firedBy(goal(1));
    expect(fired).toHaveLength(2);
    await viewer.first("overlay.show");
    const copy = fired.find(({ ruleId }) => ruleId !== id);
    const copied = (await site.call("getAutomationRule", { params: { id: copy?.ruleId ?? "" } })).as(RuleWithLog);
    expect(copied).toMatchObject({ name: "Home goal", channelId: page._id });
  });
});
