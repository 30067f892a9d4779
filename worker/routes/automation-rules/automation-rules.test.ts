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
  tell,
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
  test("is created active and for the server, and read back as it was given", async () => {
    const answer = await create();
    expect(answer.status).toBe(201);
    const { id } = answer.as(CreatedRule);
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

  test("takes isActive for active, and not both when they differ", async () => {
    const off = (await create({ isActive: false })).as(CreatedRule).id;
    expect((await get(off)).as(RuleWithLog).active).toBe(false);
    expect((await create({ active: true, isActive: false })).fields).toEqual(["isActive"]);
  });

  test("of a body's siteId that is another's is a 400", async () => {
    expect((await create({ siteId: (await newSite()).id })).fields).toEqual(["siteId"]);
    expect((await create({ siteId: site.id })).status).toBe(201);
  });

  test("of scope channel accepts its own channel as the target, as a text or in a list", async () => {
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
    ["an unknown behaviour", { trigger: { behavior: "later" } }, "jsonRule.trigger.behavior"],
    ["no value", { trigger: { value: undefined } }, "jsonRule.trigger.value"],
    ["a delay of nothing", { trigger: { delaySeconds: 0 } }, "jsonRule.trigger.delaySeconds"],
    ["an unknown provider", { trigger: { dataProviderId: "5eed00000000000000000fff" } }, "jsonRule.trigger.dataProviderId"],
    ["a fact that the schema lacks", { trigger: { fact: "match.weather" } }, "jsonRule.trigger.fact"],
    ["more than a text", { trigger: { fact: "match.scorer" } }, "jsonRule.trigger.fact"],
    ["more than what is no number", { trigger: { value: "0" } }, "jsonRule.trigger.value"],
    ["a number equal to a text", { trigger: { operator: "equals", value: "2" } }, "jsonRule.trigger.fact"],
    ["a number that contains", { trigger: { operator: "contains", value: 2 } }, "jsonRule.trigger.fact"],
    ["an unknown template", { action: { templateId: "5eed00000000000000000fff" } }, "jsonRule.action.templateId"],
    ["an unknown scope", { targeting: { scope: "everywhere" } }, "jsonRule.action.targeting.scope"],
    ["an unknown segment", { targeting: { segment: "fans" } }, "jsonRule.action.targeting.segment"],
    ["the channel of none", { channelId: null }, "channelId"],
    ["an unknown channel", { channelId: "5eed00000000000000000fff" }, "channelId"],
    ["specific channels without any", { targeting: { scope: "specific_channels" } }, "jsonRule.action.targeting.target"],
    [
      "specific channels of a text",
      { targeting: { scope: "specific_channels", target: fixed("x") } },
      "jsonRule.action.targeting.target.value",
    ],
    ["metadata without a text", { targeting: { scope: "channel_metadata", target: fixed("") } }, "jsonRule.action.targeting.target.value"],
    [
      "a target that is another channel's",
      { targeting: { target: fixed(["5eed00000000000000000fff"]) } },
      "jsonRule.action.targeting.target.value",
    ],
    [
      "a target that is another channel's as a text",
      { targeting: { target: fixed("backstage") } },
      "jsonRule.action.targeting.target.value",
    ],
    ["a target that a fact names", { targeting: { target: dynamic("match.scorer") } }, "jsonRule.action.targeting.target"],
    ["a target for all", { targeting: { scope: "all_channels", target: fixed("x") } }, "jsonRule.action.targeting.target"],
    [
      "a target of an unknown fact",
      { targeting: { scope: "channel_metadata", target: dynamic("x.y") } },
      "jsonRule.action.targeting.target.value",
    ],
    ["tags without any", { targeting: { segment: "viewers_with_tags" } }, "jsonRule.action.targeting.tags"],
    ["tags for all", { targeting: { tags: [fixed("team:home")] } }, "jsonRule.action.targeting.tags"],
    [
      "a tag of another form",
      { targeting: { segment: "viewers_with_tags", tags: [fixed("home")] } },
      "jsonRule.action.targeting.tags.0.value",
    ],
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
    ["a timecode that is a text", { action: { timecodeMapping: dynamic("match.scorer") } }, "jsonRule.action.timecodeMapping.value"],
    ["an action of another kind", { action: { type: "SEND_MAIL" } }, "jsonRule.action.type"],
  ])("with %s is a 400 that names it", async (_, change, path) => {
    const answer = await create(change);
    expect(answer.problem?.status, answer.text).toBe(400);
    expect(answer.fields).toEqual([path]);
  });

  test("of another site's provider or template is a 400", async () => {
    const other = await newSite();
    const foreign = ruleOf(site, await newDataProvider(other), await newTemplate(other));
    expect((await site.call("createAutomationRule", { body: foreign })).fields.sort()).toEqual([
      "jsonRule.action.templateId",
      "jsonRule.trigger.dataProviderId",
    ]);
  });

  test("is changed by what a PUT says, and keeps what it leaves out", async () => {
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

  test("is listed by name, by kind and by ids", async () => {
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

  test("for viewers is a 409 where they have 200, until one of these is off or gone", async () => {
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

  test("that is deleted is gone, and one that isn't there is told as no success", async () => {
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
  test("answers for each event what would be sent, by edges, and sends nothing", async () => {
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
    expect(results[4]).toMatchObject({ broadcasts: [], message: "The event says nothing at match.scorer" });
    expect((await own.call("listBroadcasts")).as(listOf(AutomationRule.loose().partial())).results).toEqual([]);
    expect(viewer.log).toEqual([]);
  });

  test("without events plays those that were received, and tells what was sent", async () => {
    const own = await newSite();
    const [from, shows] = [await newDataProvider(own), await newTemplate(own)];
    const id = await newRule(own, ruleOf(own, from, shows));
    const viewer = await openSocket(own, own.channels[0]);
    await viewer.first("welcome");
    await tell(own, from, goal(0));
    await tell(own, from, goal(1));
    const shown = await viewer.first("overlay.show");
    const { results } = (await own.call("testAutomationRule", { params: { id } })).as(DryRun);
    expect(results.map(({ event, fired }) => [event, fired])).toEqual([
      [goal(0), false],
      [goal(1), true],
    ]);
    const broadcast = Broadcast.parse(shown);
    expect(results[1]?.broadcasts).toEqual([{ channelIds: [own.channels[0]], broadcast }]);
  });

  test("of a rule whose provider has left fires nothing and says why", async () => {
    const own = await newSite();
    const from = await newDataProvider(own);
    const id = await newRule(own, ruleOf(own, from, await newTemplate(own)));
    await tell(own, from, goal(1));
    const headers = await signatureOf(from.secret, from.id);
    await own.call("deleteDataProvider", { as: "client", params: { id: from.id }, headers });
    for (const body of [{}, { events: [{ surprise: 1 }] }]) {
      const { results } = (await own.call("testAutomationRule", { params: { id }, body })).as(DryRun);
      expect(results).toMatchObject([{ fired: false, broadcasts: [], message: "The site has no such data provider" }]);
    }
  });

  test("of a rule that makes a channel names it, and makes none", async () => {
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

  test("of an event that could not be received is a 400 that names it", async () => {
    const id = await newRule(site, body());
    const events = [goal(1), goal(1, { minute: "17" })];
    const answer = await site.call("testAutomationRule", { params: { id }, body: { events } });
    expect(answer.fields).toEqual(["events.1.match.minute"]);
  });

  test("finds no rule of another site", async () => {
    const id = await newRule(site, body());
    expect((await (await newSite()).call("testAutomationRule", { params: { id }, body: {} })).problem?.status).toBe(404);
  });
});
