import { beforeAll, describe, expect, test } from "vitest";
import { newSite, openSocket, type TestSite } from "#test/harness.ts";
import {
  copyRule,
  goal,
  newDataProvider,
  newRule,
  newTemplate,
  type RuleChange,
  ruleOf,
  signatureOf,
  sendProviderEvent,
  type TestProvider,
} from "#test/providers.ts";
import { listOf } from "#worker/services/core/list-schemas.ts";
import { Broadcast } from "#worker/durable-objects/channel/channel.protocol.ts";
import { EventList } from "#worker/services/webhooks/schemas.ts";
import { AutomationRule, CreatedRule, DryRun, RemovedRules, RuleWithLog } from "#worker/services/automation-rules/schemas.ts";

const Rules = listOf(AutomationRule);

let site: TestSite;
let provider: TestProvider;
let template: string;

beforeAll(async () => {
  site = await newSite();
  provider = await newDataProvider(site);
  template = await newTemplate(site);
});

const body = (change: RuleChange = {}): Record<string, unknown> => ruleOf(site, provider, template, change);
const create = (change: RuleChange = {}) => site.call("createAutomationRule", { body: body(change) });
const get = (id: string, on = site) => on.call("getAutomationRule", { params: { id } });

describe("a rule", () => {
  test("is active and evaluated by the server by default, and returned as given", async () => {
    const response = await create();
    expect(response.status).toBe(201);
    const { id } = response.as(CreatedRule);
    expect((await get(id)).as(RuleWithLog)).toMatchObject({
      _id: id,
      siteId: site.id,
      ...body(),
      active: true,
      clientRule: false,
      log: [],
    });
    const { results } = (await site.call("listEvents")).as(EventList);
    expect(results.at(-1)).toMatchObject({ type: "personalization.ruleCreated", resource: `rule/${id}` });
  });

  test("accepts isActive as an alias of active, unless they differ", async () => {
    const off = (await create({ isActive: false })).as(CreatedRule).id;
    expect((await get(off)).as(RuleWithLog).active).toBe(false);
    expect((await create({ active: true, isActive: false })).fields).toEqual(["isActive"]);
  });

  test("whose template has been deleted can be turned off, but neither on nor changed", async () => {
    const gone = await newTemplate(site);
    const params = { id: await newRule(site, ruleOf(site, provider, gone)) };
    await site.call("deleteOverlay", { params: { id: gone } });
    const update = (change: Record<string, unknown>, rule: RuleChange = {}) =>
      site.call("updateAutomationRule", { params, body: { ...ruleOf(site, provider, gone, rule), ...change } });
    expect((await update({ active: true, name: "Renamed" })).status).toBe(200);
    expect((await update({ clientRule: true })).fields).toEqual(["jsonRule.action.templateId"]);
    expect((await update({ active: false })).status).toBe(200);
    expect((await get(params.id)).as(RuleWithLog)).toMatchObject({ active: false, name: "Home goal" });
    expect((await update({ active: true })).fields).toEqual(["jsonRule.action.templateId"]);
    expect((await update({ active: false }, { targeting: { priority: 6 } })).fields).toEqual(["jsonRule.action.templateId"]);
    expect((await update({ active: false, channelId: site.channels[1] })).fields).toEqual(["jsonRule.action.templateId"]);
  });

  test("is replaced only as it was read, with the ETag of GET in If-Match", async () => {
    const params = { id: await newRule(site, body()) };
    const read = await get(params.id);
    const replace = () =>
      site.call("updateAutomationRule", { params, body: body(), headers: { "If-Match": read.headers.get("ETag") ?? "" } });
    expect((await replace()).status).toBe(200);
    expect((await replace()).problem?.code).toBe("precondition_failed");
  });

  test("is rejected if siteId names another site", async () => {
    expect((await create({ siteId: (await newSite()).id })).fields).toEqual(["siteId"]);
    expect((await create({ siteId: site.id })).status).toBe(201);
  });

  test("with the scope channel accepts its own channel as the target, as a string or list", async () => {
    const [channel] = site.channels;
    for (const value of [channel, [channel], ""]) {
      const { id } = (await create({ channelId: channel, targeting: { scope: "channel", target: { type: "static", value } } })).as(
        CreatedRule,
      );
      const target = { type: "static", value };
      expect((await get(id)).as(RuleWithLog).jsonRule).toMatchObject({ action: { targeting: { scope: "channel", target } } });
    }
  });

  const dynamic = (value: string) => ({ type: "dynamic", value });
  const fixed = (value: unknown) => ({ type: "static", value });
  test.each<[string, RuleChange, string]>([
    ["no name", { name: undefined }, "name"],
    ["no jsonRule", { jsonRule: undefined }, "jsonRule"],
    ["an unknown operator", { trigger: { operator: "matches" } }, "jsonRule.trigger.operator"],
    ["an unknown behavior", { trigger: { behavior: "later" } }, "jsonRule.trigger.behavior"],
    ["no value", { trigger: { value: undefined } }, "jsonRule.trigger.value"],
    ["a delay of zero", { trigger: { delaySeconds: 0 } }, "jsonRule.trigger.delaySeconds"],
    ["an unknown provider", { trigger: { dataProviderId: "5eed00000000000000000fff" } }, "jsonRule.trigger.dataProviderId"],
    ["a fact that the schema lacks", { trigger: { fact: "match.weather" } }, "jsonRule.trigger.fact"],
    ["greater_than on a string fact", { trigger: { fact: "match.scorer" } }, "jsonRule.trigger.fact"],
    ["greater_than with a string value", { trigger: { value: "0" } }, "jsonRule.trigger.value"],
    ["a string value for a number fact", { trigger: { operator: "equals", value: "2" } }, "jsonRule.trigger.fact"],
    ["contains on a number fact", { trigger: { operator: "contains", value: 2 } }, "jsonRule.trigger.fact"],
    ["an unknown template", { action: { templateId: "5eed00000000000000000fff" } }, "jsonRule.action.templateId"],
    ["an unknown scope", { targeting: { scope: "everywhere" } }, "jsonRule.action.targeting.scope"],
    ["an unknown segment", { targeting: { segment: "fans" } }, "jsonRule.action.targeting.segment"],
    ["the scope channel without a channel", { channelId: null }, "channelId"],
    ["an unknown channel", { channelId: "5eed00000000000000000fff" }, "channelId"],
    ["specific channels without any", { targeting: { scope: "specific_channels" } }, "jsonRule.action.targeting.target"],
    [
      "specific channels as a string",
      { targeting: { scope: "specific_channels", target: fixed("x") } },
      "jsonRule.action.targeting.target.value",
    ],
    [
      "specific channels that the site doesn't have",
      { targeting: { scope: "specific_channels", target: fixed(["5eed00000000000000000fff"]) } },
      "jsonRule.action.targeting.target.value.0",
    ],
    ["metadata without text", { targeting: { scope: "channel_metadata", target: fixed("") } }, "jsonRule.action.targeting.target.value"],
    [
      "a target that is another channel",
      { targeting: { target: fixed(["5eed00000000000000000fff"]) } },
      "jsonRule.action.targeting.target.value",
    ],
    [
      "a target that is another channel, as a string",
      { targeting: { target: fixed("backstage") } },
      "jsonRule.action.targeting.target.value",
    ],
    ["a dynamic target", { targeting: { target: dynamic("match.scorer") } }, "jsonRule.action.targeting.target"],
    ["a target with all_channels", { targeting: { scope: "all_channels", target: fixed("x") } }, "jsonRule.action.targeting.target"],
    [
      "a target of an unknown fact",
      { targeting: { scope: "channel_metadata", target: dynamic("x.y") } },
      "jsonRule.action.targeting.target.value",
    ],
    ["tags without any", { targeting: { segment: "viewers_with_tags" } }, "jsonRule.action.targeting.tags"],
    ["tags for all viewers", { targeting: { tags: [fixed("team:home")] } }, "jsonRule.action.targeting.tags"],
    ["a malformed tag", { targeting: { segment: "viewers_with_tags", tags: [fixed("home")] } }, "jsonRule.action.targeting.tags.0.value"],
    [
      "a variable of an unknown fact",
      { action: { variableMapping: { scorer: dynamic("match.x") } } },
      "jsonRule.action.variableMapping.scorer.value",
    ],
    [
      "a variable that the template lacks",
      { action: { variableMapping: { scorer: fixed("a"), x: fixed(1) } } },
      "jsonRule.action.variableMapping.x",
    ],
    ["a timecode from a string fact", { action: { timecodeMapping: dynamic("match.scorer") } }, "jsonRule.action.timecodeMapping.value"],
    ["an unknown action", { action: { type: "SEND_MAIL" } }, "jsonRule.action.type"],
  ])("with %s is rejected with the field's path", async (_, change, path) => {
    const response = await create(change);
    expect(response.problem?.status, response.text).toBe(400);
    expect(response.fields).toEqual([path]);
  });

  test("is rejected with another site's provider or template", async () => {
    const other = await newSite();
    const foreign = ruleOf(site, await newDataProvider(other), await newTemplate(other));
    expect((await site.call("createAutomationRule", { body: foreign })).fields.sort()).toEqual([
      "jsonRule.action.templateId",
      "jsonRule.trigger.dataProviderId",
    ]);
  });

  test("in viewers' pages can't target a segment, which the pages don't know", async () => {
    const toSegment = { targeting: { scope: "channel", segment: "viewers_in_segment", userSegment: "fans", priority: 1 } };
    const { status, fields } = await create({ clientRule: true, action: toSegment });
    expect([status, fields]).toEqual([400, ["jsonRule.action.targeting.segment"]]);
  });

  test("is updated by PUT, which keeps omitted fields", async () => {
    const id = await newRule(site, body({ clientRule: true }));
    const { jsonRule } = body({ trigger: { value: 3 } });
    const changed = await site.call("updateAutomationRule", { params: { id }, body: { jsonRule, active: false } });
    expect(changed.as(AutomationRule)).toMatchObject({
      name: "Home goal",
      channelId: site.channels[0],
      jsonRule,
      active: false,
      clientRule: true,
    });
    expect((await site.call("updateAutomationRule", { params: { id }, body: { name: "Nothing else" } })).fields).toEqual(["jsonRule"]);
    const stale = await site.call("updateAutomationRule", { params: { id }, body: { jsonRule }, headers: { "If-Match": '"v1"' } });
    expect(stale.problem?.status).toBe(412);
  });

  test("is listed by name, clientRule and ids", async () => {
    const own = await newSite();
    const [from, shows] = [await newDataProvider(own), await newTemplate(own)];
    const server = await newRule(own, ruleOf(own, from, shows, { name: "Server" }));
    const client = await newRule(own, ruleOf(own, from, shows, { name: "Client", clientRule: true }));
    const idsOf = async (id: string, query: Record<string, string | boolean> = {}) =>
      (await own.call(id, { query, as: "reader" })).as(Rules).results.map((rule) => rule._id);
    expect(await idsOf("listAutomationRules")).toEqual([client, server]);
    expect(await idsOf("listAutomationRules", { sortBy: "name" })).toEqual([client, server]);
    expect(await idsOf("listAutomationRules", { clientRule: true })).toEqual([client]);
    expect(await idsOf("listAutomationRules", { clientRule: false })).toEqual([server]);
    expect(await idsOf("listAutomationRules", { search: "serv" })).toEqual([server]);
    const foreign = await newRule(site, body());
    expect(await idsOf("listAutomationRulesById", { ids: JSON.stringify([server, foreign]) })).toEqual([server]);
  });

  test("for viewers is a 409 if the site has 200, until one is deactivated", async () => {
    const own = await newSite();
    const rule = ruleOf(own, await newDataProvider(own), await newTemplate(own), { clientRule: true });
    const { jsonRule } = rule;
    const first = await newRule(own, rule);
    const off = await newRule(own, { ...rule, active: false });
    await copyRule(first, 199);
    const put = (id: string, change: Record<string, unknown>) =>
      own.call("updateAutomationRule", { params: { id }, body: { jsonRule, ...change } });
    expect((await own.call("createAutomationRule", { body: rule })).problem).toMatchObject({ status: 409, code: "conflict" });
    expect((await put(off, { active: true })).problem?.status).toBe(409);
    expect((await own.call("createAutomationRule", { body: { ...rule, clientRule: false } })).status).toBe(201);
    expect((await put(first, { name: "Still on" })).status).toBe(200);
    expect((await put(first, { active: false })).status).toBe(200);
    expect((await put(off, { active: true })).status).toBe(200);
    expect((await put(first, { active: true })).problem?.status).toBe(409);
  });

  test("can be deleted, and success is false if it doesn't exist", async () => {
    const [one, two, three] = [await newRule(site, body()), await newRule(site, body()), await newRule(site, body())];
    const remove = (id: string, on = site) => on.call("deleteAutomationRule", { params: { id } });
    expect((await remove(one, await newSite())).body).toEqual({ success: false });
    expect((await remove(one)).body).toEqual({ success: true });
    expect((await remove(one)).body).toEqual({ success: false });
    expect((await get(one)).problem?.status).toBe(404);
    const many = (ids: string[]) => site.call("deleteAutomationRules", { query: { ids: JSON.stringify(ids) } });
    expect((await many([one, two])).as(RemovedRules)).toEqual({ success: false, total: 2, removed: 1 });
    expect((await many([three, three])).as(RemovedRules)).toEqual({ success: true, total: 1, removed: 1 });
  });
});

describe("a dry run", () => {
  test("returns what each event would send, on changes only, and sends nothing", async () => {
    const own = await newSite();
    const [from, shows] = [await newDataProvider(own), await newTemplate(own)];
    const id = await newRule(
      own,
      ruleOf(own, from, shows, { trigger: { operator: "equals", value: 2 }, action: { broadcastPayload: { sound: "horn" } } }),
    );
    const viewer = await openSocket(own, own.channels[0]);
    await viewer.first("welcome");
    const events = [goal(1), goal(2), goal(2), goal(3), goal(2, { scorer: undefined })];
    const { results } = (await own.call("testAutomationRule", { params: { id }, body: { events } })).as(DryRun);
    expect(results.map(({ fired }) => fired)).toEqual([false, true, false, false, true]);
    expect(results[1]?.broadcasts).toMatchObject([
      {
        channelIds: [own.channels[0]],
        broadcast: { overlayId: shows, priority: 5, contents: [{ html: "Ada Moreno" }], broadcastPayload: { sound: "horn" } },
      },
    ]);
    expect(results[4]).toMatchObject({ broadcasts: [], message: "The event has no value at match.scorer" });
    expect((await own.call("listBroadcasts")).as(listOf(AutomationRule.loose().partial())).results).toEqual([]);
    expect(viewer.log).toEqual([]);
  });

  test("without events replays the received ones, and returns what was sent", async () => {
    const own = await newSite();
    const [from, shows] = [await newDataProvider(own), await newTemplate(own)];
    const id = await newRule(own, ruleOf(own, from, shows));
    const viewer = await openSocket(own, own.channels[0]);
    await viewer.first("welcome");
    await sendProviderEvent(own, from, goal(0));
    await sendProviderEvent(own, from, goal(1));
    const shown = await viewer.first("overlay.show");
    const { results } = (await own.call("testAutomationRule", { params: { id } })).as(DryRun);
    expect(results.map(({ event, fired }) => [event, fired])).toEqual([
      [goal(0), false],
      [goal(1), true],
    ]);
    const broadcast = Broadcast.parse(shown);
    expect(results[1]?.broadcasts).toEqual([{ channelIds: [own.channels[0]], broadcast }]);
  });

  test("of a rule whose provider was deleted fires nothing and gives the reason", async () => {
    const own = await newSite();
    const from = await newDataProvider(own);
    const id = await newRule(own, ruleOf(own, from, await newTemplate(own)));
    await sendProviderEvent(own, from, goal(1));
    const headers = await signatureOf(from.secret, from.id);
    await own.call("deleteDataProvider", { as: "client", params: { id: from.id }, headers });
    for (const body of [{}, { events: [{ surprise: 1 }] }]) {
      const { results } = (await own.call("testAutomationRule", { params: { id }, body })).as(DryRun);
      expect(results).toMatchObject([{ fired: false, broadcasts: [], message: "The site has no such data provider" }]);
    }
  });

  test("of a rule that creates a channel returns it without creating it", async () => {
    const own = await newSite();
    const from = await newDataProvider(own);
    const action = { type: "CREATE_CHANNEL", name: { type: "dynamic", value: "match.scorer" } };
    const trigger = {
      dataProviderId: from.id,
      fact: "match.score.home",
      operator: "equals",
      value: 1,
      behavior: "delayed",
      delaySeconds: 60,
    };
    const id = await newRule(own, { name: "Studio", jsonRule: { trigger, action } });
    const { results } = (await own.call("testAutomationRule", { params: { id }, body: { events: [goal(1)] } })).as(DryRun);
    expect(results).toMatchObject([{ fired: true, broadcasts: [], delaySeconds: 60, channel: { name: "Ada Moreno" } }]);
    expect(results[0]?.channel?.slug).toMatch(/^ada-moreno-[0-9a-f]{8}$/);
  });

  test("rejects an event that doesn't match the schema", async () => {
    const id = await newRule(site, body());
    const events = [goal(1), goal(1, { minute: "17" })];
    const response = await site.call("testAutomationRule", { params: { id }, body: { events } });
    expect(response.fields).toEqual(["events.1.match.minute"]);
  });

  test("doesn't find a rule of another site", async () => {
    const id = await newRule(site, body());
    expect((await (await newSite()).call("testAutomationRule", { params: { id }, body: {} })).problem?.status).toBe(404);
  });
});
