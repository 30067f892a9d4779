import { beforeAll, describe, expect, test } from "vitest";
import { interruptedContext } from "#test/interrupted-context.ts";
import { newSite, type TestSite } from "#test/harness.ts";
import { newDataProvider, newRule, newTemplate, ruleOf } from "#test/providers.ts";
import { workingProvider } from "#test/streams.ts";
import { listOf } from "#worker/services/core/list-schemas.ts";
import { newId, randomHex } from "#worker/lib/ids.ts";
import { AutomationRule } from "#worker/services/automation-rules/schemas.ts";
import { createPage, deletePage, updatePage } from "#worker/services/pages/pages.ts";
import { createChannelTemplate } from "#worker/services/pages/channel-templates.ts";
import { batchAll } from "#worker/services/core/context.ts";
import { recordWatching } from "#worker/services/pages/watch-time.ts";
import { CalendarEvent } from "#worker/services/events/schemas.ts";
import { Navigation } from "#worker/services/navigation/schemas.ts";
import { Stream } from "#worker/services/streams/schemas.ts";
import { Theme } from "#worker/services/themes/schemas.ts";
import { EventList } from "#worker/services/webhooks/schemas.ts";
import { CreatePage, Page, UpdatePage } from "#worker/services/pages/schemas.ts";
import { ChannelTemplateInput } from "#worker/services/pages/template-schemas.ts";
import { siteStore } from "#test/site-store.ts";

const RuleList = listOf(AutomationRule);

let site: TestSite;

beforeAll(async () => {
  site = await newSite();
});

const newSlug = () => `page-${randomHex(5)}`;
const create = (data: Record<string, unknown>) =>
  site.call("createPage", { body: { type: "channel", slug: newSlug(), data: { name: "Second half", ...data } } });
const change = (id: string, data: Record<string, unknown>) =>
  site.call("updatePage", { params: { id }, body: { slug: newSlug(), data: { name: "Second half", ...data } } });

async function newTheme(on = site): Promise<string> {
  return (await on.call("createCustomTheme", { body: { name: "Floodlight", colors: {} } })).as(Theme)._id;
}

async function newNavigation(on = site): Promise<string> {
  const body = { name: "Main", type: "custom", siteId: on.id, parents: [], externalLinks: [] };
  return (await on.call("createNavigation", { body })).as(Navigation)._id;
}

describe("a page's theme and navigation", () => {
  test("can be the site's own or the operator's", async () => {
    const defaultTheme = (await site.call("createDefaultTheme", { body: { name: "Plain", colors: {} } })).as(Theme)._id;
    const page = (await create({ theme: await newTheme(), navigation: await newNavigation() })).as(Page);
    expect((await change(page._id, { theme: defaultTheme })).as(Page).data.theme).toBe(defaultTheme);
  });

  test("are rejected if the site doesn't have them", async () => {
    const other = await newSite();
    const page = (await create({})).as(Page);
    for (const [data, fields] of [
      [{ theme: newId(1) }, ["data.theme"]],
      [{ navigation: newId(1) }, ["data.navigation"]],
      [{ theme: await newTheme(other), navigation: await newNavigation(other) }, ["data.theme", "data.navigation"]],
    ] as const)
      for (const response of [await create(data), await change(page._id, data)]) expect(response).toMatchObject({ status: 400, fields });
  });

  test.for(["theme", "navigation"] as const)("are rejected when the %s is deleted concurrently", async (kind) => {
    const created = { theme: await newTheme(), navigation: await newNavigation() };
    const data = { name: "Second half", ...created };
    const page = (await create({})).as(Page);
    const remove = () =>
      kind === "theme"
        ? site.call("deleteTheme", { params: { id: created.theme } })
        : site.call("deleteNavigation", { params: { id: created.navigation } });
    const rejected = { code: "invalid_request", issues: [{ path: `data.${kind}` }] };
    const input = CreatePage.parse({ type: "channel", slug: newSlug(), data });
    await expect(createPage(interruptedContext(site, remove), input)).rejects.toMatchObject(rejected);
    const restored = { theme: await newTheme(), navigation: await newNavigation() };
    Object.assign(created, restored);
    const next = UpdatePage.parse({ slug: newSlug(), data: { name: "x", ...restored } });
    // The caller is read before the theme is checked, and once more before the write.
    let callerReads = 0;
    const removeLate = () => (++callerReads === 2 ? remove() : Promise.resolve());
    await expect(updatePage(interruptedContext(site, removeLate), page._id, next)).rejects.toMatchObject(rejected);
    expect((await site.call("getPage", { params: { id: page._id } })).as(Page)).toEqual(page);
  });

  test("are rejected for a template when they are deleted concurrently", async () => {
    const theme = await newTheme();
    const input = ChannelTemplateInput.parse({ title: "x", siteId: site.id, creator: "ada", owner: "ada", panels: [], rules: [], theme });
    const remove = () => site.call("deleteTheme", { params: { id: theme } });
    await expect(createChannelTemplate(interruptedContext(site, remove), input)).rejects.toMatchObject({ issues: [{ path: "theme" }] });
  });

  test("don't hide a conflict with a concurrent change of the page", async () => {
    const page = (await create({})).as(Page);
    const next = UpdatePage.parse({ slug: newSlug(), data: { name: "x", theme: await newTheme() } });
    await expect(
      updatePage(
        interruptedContext(site, () => change(page._id, {})),
        page._id,
        next,
      ),
    ).rejects.toMatchObject({ code: "conflict" });
  });
});

test("deleting a channel detaches its calendar events, with an event for each, and deletes its watch times", async () => {
  const page = (await create({})).as(Page);
  const body = {
    siteId: site.id,
    channelId: page._id,
    titleRaw: "Derby",
    descriptionRaw: "",
    categories: [],
    date: { startTimestamp: 1795273200000, timeZone: "Europe/London" },
  };
  const event = (await site.call("createCalendarEvent", { body })).as(CalendarEvent);
  const ctx = interruptedContext(site, () => Promise.resolve());
  await batchAll(ctx.db, [recordWatching(ctx, page._id, "device:tv")]);
  await site.call("deletePage", { params: { id: page._id } });
  const left = await site.call("getCalendarEvent", { params: { id: event._id } });
  const now = left.as(CalendarEvent);
  expect(now).toEqual({ ...event, channelId: null, modified: now.modified });
  const { results } = (await site.call("listEvents", { query: { types: "event.updated" } })).as(EventList);
  expect(results).toMatchObject([{ resource: `event/${event._id}`, data: now }]);
  expect(await siteStore.prepare("select count(*) as rows from watch_time where page_id = ?").bind(page._id).first("rows")).toBe(0);
});

describe("deleting a channel", () => {
  async function newStream(on: TestSite, channelId: string) {
    return (await on.call("createStream", { body: { title: "Derby", provider: await workingProvider(on), channelId } })).as(Stream);
  }

  test("detaches its streams, with an event for each", async () => {
    const own = await newSite();
    const [id] = own.channels;
    const stream = await newStream(own, id);
    await own.call("deletePage", { params: { id } });
    const now = (await own.call("getStream", { params: { id: stream._id } })).as(Stream);
    expect(now).toEqual({ ...stream, channelId: null, modified: now.modified });
    const { results } = (await own.call("listEvents", { query: { types: "stream.updated" } })).as(EventList);
    expect(results).toMatchObject([{ resource: `stream/${stream._id}`, data: { ...now, streamKey: null } }]);
  });

  test("is rejected while one of its streams is live or starting", async () => {
    const own = await newSite();
    const [id] = own.channels;
    const stream = await newStream(own, id);
    const start = () => own.call("startStream", { params: { id: stream._id } });
    let callerReads = 0;
    const startLate = () => (++callerReads === 1 ? start() : Promise.resolve());
    await expect(deletePage(interruptedContext(own, startLate), id)).rejects.toMatchObject({ code: "conflict" });
    const rejected = await own.call("deletePage", { params: { id } });
    expect([rejected.status, rejected.problem?.message]).toEqual([409, `The channel's stream ${stream._id} is live; stop it first`]);
    await own.call("stopStream", { params: { id: stream._id } });
    expect((await own.call("deletePage", { params: { id } })).status).toBe(200);
  });

  test("deletes its automation rules and no others", async () => {
    const own = await newSite();
    const [id, other] = own.channels;
    const [provider, template] = [await newDataProvider(own), await newTemplate(own)];
    const [gone, kept] = [
      await newRule(own, ruleOf(own, provider, template, { channelId: id })),
      await newRule(own, ruleOf(own, provider, template, { channelId: other })),
    ];
    const [logged] = (await own.call("listAutomationRulesById", { query: { ids: JSON.stringify([gone]) } })).as(RuleList).results;
    await own.call("deletePage", { params: { id } });
    const { results } = (await own.call("listEvents", { query: { types: "personalization.ruleDeleted" } })).as(EventList);
    expect(results).toMatchObject([{ resource: `rule/${gone}`, data: logged }]);
    expect((await own.call("listAutomationRules")).body).toMatchObject({ results: [{ _id: kept }] });
  });
});
