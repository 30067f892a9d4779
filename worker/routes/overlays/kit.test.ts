import { z } from "@hono/zod-openapi";
import { beforeAll, describe, expect, test } from "vitest";
import { newSite, openSocket, type TestSite } from "#test/harness.ts";
import { goal as goalEvent, newDataProvider, newRule, ruleOf, sendProviderEvent } from "#test/providers.ts";
import { KIT_TEMPLATES } from "#worker/lib/schemas/overlay-kit/kit.ts";
import { listOf } from "#worker/services/core/list-schemas.ts";
import { ProviderEvent, ReceivedEvent } from "#worker/services/data-providers/schemas.ts";
import { BroadcastAnswer, Kit, Overlay } from "#worker/services/overlays/schemas.ts";
import { Poll } from "#worker/services/polls/schemas.ts";

let site: TestSite;

beforeAll(async () => {
  site = await newSite();
});

const goal = { kind: "kit", template: "goal", position: "bottomCenter", variables: { headline: "Goal" } };
const scorebug = { kind: "kit", template: "scorebug" };

function create(contents: unknown[], type = "template") {
  return site.call("createOverlay", { body: { name: "Kit", description: "", siteId: site.id, type, duration: 60, contents } });
}

async function send(contents: unknown[], body: Record<string, unknown>) {
  const { _id } = (await create(contents)).as(Overlay);
  return site.call("broadcastOverlay", { params: { id: _id }, body: { channelId: site.channels[0], ...body } });
}

async function newPoll(of: TestSite): Promise<string> {
  const body = { siteId: of.id, type: "poll", name: "Best", question: "Who?", open: true, answers: [{ answer: "A" }, { answer: "B" }] };
  return (await of.call("createPoll", { body })).as(Poll)._id;
}

describe("the kit's list", () => {
  test("has every template once, with a schema that names each variable of its sample", async () => {
    const { templates } = (await site.call("listKit")).as(Kit);
    expect(templates.map(({ name }) => name)).toEqual([...KIT_TEMPLATES]);
    for (const { name, variables, sample } of templates) {
      expect(variables, name).toMatchObject({ type: "object", additionalProperties: false });
      const known = Object.keys(z.record(z.string(), z.unknown()).parse(variables.properties));
      expect(known, name).toEqual(expect.arrayContaining(Object.keys(sample)));
    }
  });

  test("has samples that can be broadcast as they are", async () => {
    const { templates } = (await site.call("listKit")).as(Kit);
    const pollId = await newPoll(site);
    for (const { name, sample } of templates) {
      const variables = name === "poll" ? { ...sample, pollId } : sample;
      const sent = await send([{ kind: "kit", template: name, variables }], {});
      expect(sent.status, `${name}: ${JSON.stringify(sent.body)}`).toBe(200);
    }
  });
});

describe("an element of the kit", () => {
  test("gets its template's position unless it names one", async () => {
    expect((await create([scorebug])).as(Overlay).contents).toMatchObject([{ ...scorebug, position: "topLeft" }]);
    expect((await create([{ ...scorebug, position: "topRight" }])).as(Overlay).contents).toMatchObject([{ position: "topRight" }]);
  });

  test.for<[name: string, content: Record<string, unknown>, field: string]>([
    ["an unknown template", { template: "fireworks" }, "contents.0.template"],
    ["a variable that the template doesn't have", { variables: { surprise: 1 } }, "contents.0.variables.surprise"],
    ["the name of an Object.prototype property", { variables: { constructor: "x" } }, "contents.0.variables.constructor"],
    ["a value of another type", { variables: { playerName: 9 } }, "contents.0.variables.playerName"],
    ["a value that is too long", { variables: { playerName: "a".repeat(81) } }, "contents.0.variables.playerName"],
    ["a colour that is CSS", { variables: { teamColor: "red;}body{" } }, "contents.0.variables.teamColor"],
    ["an image that isn't https", { variables: { image: "javascript:alert(1)" } }, "contents.0.variables.image"],
    ["html", { html: "<b>Goal</b>" }, "contents.0.html"],
  ])("is rejected with %s", async ([, change, field]) => {
    expect(await create([{ ...goal, ...change }])).toMatchObject({ status: 400, fields: [field] });
  });

  test.for<[name: string, variables: Record<string, unknown>, wrong: string[]]>([
    ["all that the template requires", { playerName: "Ada Moreno" }, []],
    ["nothing", {}, ["variables.playerName"]],
    ["a variable that it doesn't have", { playerName: "Ada", scorer: "Ada" }, ["variables.scorer"]],
    ["a wrong value", { playerName: "Ada", teamColor: "blue" }, ["variables.teamColor"]],
    ["a moment as a number", { playerName: "Ada", moment: 67 }, []],
    ["a moment as text", { playerName: "Ada", moment: "45+2" }, []],
  ])("is checked when it is broadcast with %s", async ([, variables, wrong]) => {
    const response = await send([goal], { variables });
    expect(response.fields).toEqual(wrong);
    expect(response.status).toBe(wrong.length > 0 ? 400 : 200);
  });

  test("reaches the viewers with its own values, filled in and overridden, as plain text and with a key", async () => {
    const channelId = await site.addChannel("kit");
    const viewer = await openSocket(site, channelId);
    const variables = { playerName: "{{scorer}} ({{club}})", moment: "{{minute}}", headline: "Goal" };
    const sent = await send([{ ...goal, variables }], {
      channelId,
      variables: { scorer: "<b>Ada</b>", club: "HC", minute: 67, headline: "Goal!" },
    });
    expect(sent.as(BroadcastAnswer).success).toBe(true);
    const { contents, overlayId } = await viewer.first("overlay.show");
    const filled = { playerName: "<b>Ada</b> (HC)", moment: 67, headline: "Goal!" };
    expect(contents).toEqual([{ kind: "kit", template: "goal", key: overlayId, variables: filled, position: "bottomCenter" }]);
  });

  test("requires the variables of its placeholders, and checks what they produce", async () => {
    const named = { ...goal, variables: { playerName: "{{scorer}}" } };
    expect(await send([named], {})).toMatchObject({ status: 400, fields: ["variables.scorer"] });
    expect(await send([named], { variables: { scorer: "a".repeat(81) } })).toMatchObject({ status: 400, fields: ["variables.playerName"] });
  });

  test("leaves out a variable that a broadcast fills in with an empty text", async () => {
    const channelId = await site.addChannel("empty");
    const viewer = await openSocket(site, channelId);
    const variables = { playerName: "Ada", detail: "{{assist}}" };
    const sent = await send([{ ...goal, variables }], { channelId, variables: { assist: "" } });
    expect(sent.status, JSON.stringify(sent.body)).toBe(200);
    expect((await viewer.first("overlay.show")).contents).toMatchObject([{ kind: "kit" }]);
    expect(
      viewer.frames.find((frame) => frame.type === "overlay.show")?.contents.map((content) => "variables" in content && content.variables),
    ).toEqual([{ playerName: "Ada" }]);
    const withoutPlayer = await send([{ ...goal, variables: { playerName: "{{scorer}}" } }], { variables: { scorer: "" } });
    expect(withoutPlayer).toMatchObject({ status: 400, fields: ["variables.playerName"] });
  });

  test("may contain the defaults of its placeholders", async () => {
    const variables = { playerName: "{{scorer}}", scorer: "Harbour City" };
    const channelId = await site.addChannel("defaults");
    const viewer = await openSocket(site, channelId);
    await send([{ ...goal, variables }], { channelId });
    expect(await viewer.first("overlay.show")).toMatchObject({
      contents: [{ variables: { playerName: "Harbour City" } }],
      variables: { scorer: "Harbour City" },
    });
    expect(await create([{ ...goal, variables: { ...variables, keeper: "Nobody" } }])).toMatchObject({
      status: 400,
      fields: ["contents.0.variables.keeper"],
    });
  });

  test("keeps to the channels that an instance lists", async () => {
    const [, other] = [site.channels[0], await site.addChannel("elsewhere")];
    const sponsor = { kind: "kit", template: "sponsor", channels: [site.channels[0]], variables: { name: "Quayside" } };
    const { _id } = (await create([sponsor], "instance")).as(Overlay);
    const on = (channelId: string | undefined) => site.call("broadcastOverlay", { params: { id: _id }, body: { channelId } });
    expect(await on(other)).toMatchObject({ status: 400, fields: ["channelId"] });
    expect((await on(site.channels[0])).status).toBe(200);
  });
});

describe("the kit's poll", () => {
  const poll = { kind: "kit", template: "poll" };

  test("can only be one of the site, whether the overlay or the broadcast names it", async () => {
    const foreign = await newPoll(await newSite());
    const own = await newPoll(site);
    expect(await create([{ ...poll, variables: { pollId: foreign } }])).toMatchObject({
      status: 400,
      fields: ["contents.0.variables.pollId"],
    });
    expect(await send([poll], { variables: { pollId: foreign } })).toMatchObject({ status: 400, fields: ["variables.pollId"] });
    const named = { ...poll, variables: { pollId: "{{poll}}" } };
    expect(await send([named], { variables: { poll: foreign } })).toMatchObject({ status: 400, fields: ["variables.pollId"] });
    for (const [contents, variables] of [
      [{ ...poll, variables: { pollId: own } }, {}],
      [poll, { pollId: own }],
      [named, { poll: own }],
    ]) {
      const sent = await send([contents], { variables });
      expect(sent.status, JSON.stringify(sent.body)).toBe(200);
    }
  });

  test("is checked when a broadcast of it is scheduled", async () => {
    const foreign = await newPoll(await newSite());
    const { _id } = (await create([poll])).as(Overlay);
    const body = {
      kind: "overlay.broadcast",
      targetId: _id,
      in: 3600,
      broadcast: { channelId: site.channels[0], variables: { pollId: foreign } },
    };
    expect((await site.call("scheduleAction", { body })).status).toBe(400);
  });

  test("of another site fails the rule that would show it", async () => {
    const { _id } = (await create([poll])).as(Overlay);
    const variableMapping = { pollId: { type: "dynamic", value: "match.scorer" } };
    for (const [pollId, outcome] of [
      [await newPoll(await newSite()), "failed"],
      [await newPoll(site), "sent"],
    ]) {
      const provider = await newDataProvider(site);
      await newRule(site, ruleOf(site, provider, _id, { action: { variableMapping } }));
      const { eventId } = (await sendProviderEvent(site, provider, goalEvent(1, { scorer: pollId }))).as(ReceivedEvent);
      const { results } = (await site.call("listProviderEvents", { params: { providerId: provider.id } })).as(listOf(ProviderEvent));
      expect(results.find((one) => one._id === eventId)?.fired).toMatchObject([{ outcome }]);
    }
  });
});
