import { env } from "cloudflare:workers";
import { eq } from "drizzle-orm";
import fc from "fast-check";
import { beforeAll, describe, expect, test } from "vitest";
import { createDb } from "#db/client.ts";
import { accounts } from "#db/schema/accounts.ts";
import { viewerActivity } from "#db/schema/activity.ts";
import { accountEntitlements } from "#db/schema/commerce/entitlements.ts";
import { addSkus } from "#test/files-and-skus.ts";
import { type ApiResponse, newSite, type TestSite } from "#test/harness.ts";
import { leaderboardsOf } from "#test/leaderboards.ts";
import { newDataProvider, newRule, newTemplate, ruleOf } from "#test/providers.ts";
import { storedFilter } from "#test/segments.ts";
import { newId } from "#worker/lib/ids.ts";
import { ChannelTemplate } from "#worker/services/pages/template-schemas.ts";
import { Panel } from "#worker/services/panels/schemas.ts";
import { Rundown } from "#worker/services/rundowns/schemas.ts";
import { ScheduledAction } from "#worker/services/schedule/schemas.ts";
import { systemCtx } from "#worker/services/core/system.ts";
import { countMatching, MAX_MEMBERS } from "#worker/services/segments/accounts.ts";
import { matches, type SegmentFilter, type SegmentViewer } from "#worker/services/segments/filter.ts";
import { SegmentSize } from "#worker/services/segments/schemas.ts";
import { siteStore } from "#test/site-store.ts";

const db = createDb(siteStore);
const tagged = (value: string): SegmentFilter => ({ attribute: "tags", operator: "any_of", value: [value] });

const panelBody = (site: TestSite, slug: string) => ({
  siteId: site.id,
  renderer: { panel_type: "chat", panel_name: "Fans' chat", segment: slug },
});

function templateBody(site: TestSite, panels: unknown[]) {
  const { id } = site.accounts.admin;
  return { title: "Match day", siteId: site.id, creator: id, owner: id, panels, rules: [] };
}

const segment = (filter: unknown, name = "Fans") => ({ name, filter });
const save = (site: TestSite, userSegments: unknown) =>
  site.call("updateSite", { body: { name: "Harbour City", settings: { security: {}, userSegments } } });

describe("a site's segments", () => {
  test("are replaced with its settings, and only managers read them", async () => {
    const site = await newSite();
    const segments = { fans: segment(tagged("team:home"), "Home fans") };
    expect((await save(site, segments)).body).toMatchObject({ settings: { userSegments: segments } });
    expect((await site.call("getSite", { as: "client" })).text).not.toContain("Home fans");
  });

  test.for<[string, unknown]>([
    ["settings.userSegments.fans.filter.value.0", { fans: segment({ attribute: "country", operator: "any_of", value: ["England"] }) }],
    [
      "settings.userSegments.fans.filter.all.1.operator",
      { fans: segment({ all: [tagged("a:b"), { attribute: "tags", operator: "is", value: ["a:b"] }] }) },
    ],
    ["settings.userSegments.Fans", { Fans: segment(tagged("a:b")) }],
    ["settings.userSegments.fans.name", { fans: { filter: tagged("a:b") } }],
    [
      "settings.userSegments.fans.filter.any.0.value.1",
      { fans: segment({ any: [{ attribute: "entitlements", operator: "any_of", value: ["match-pass", "no-such-sku"] }] }) },
    ],
  ])("are rejected with the path %s", async ([path, segments]) => {
    const site = await newSite();
    await addSkus(site, "match-pass");
    expect(await save(site, segments)).toMatchObject({ status: 400, fields: [path] });
  });

  test("stay while a panel uses them", async () => {
    const site = await newSite();
    await save(site, { fans: segment(tagged("team:home")), others: segment(tagged("team:away")) });
    const panel = (await site.call("createPanel", { body: panelBody(site, "fans") })).as(Panel);
    const renamed = await save(site, { "home-fans": segment(tagged("team:home")) });
    expect(renamed).toMatchObject({ status: 409, fields: [`panels.${panel._id}`] });
    expect((await save(site, { fans: segment(tagged("team:red"), "Renamed") })).status).toBe(200);
    await site.call("deletePanel", { params: { id: panel._id } });
    expect((await save(site, {})).status).toBe(200);
  });

  test.for<[string, (site: TestSite) => Promise<string>, (site: TestSite, id: string) => Promise<ApiResponse>]>([
    [
      "rules",
      async (site) => {
        const targeting = { segment: "viewers_in_segment", userSegment: "fans" };
        return newRule(site, ruleOf(site, await newDataProvider(site), await newTemplate(site), { targeting }));
      },
      (site, id) => site.call("deleteAutomationRule", { params: { id } }),
    ],
    [
      "templates",
      async (site) => {
        const renderer = { panel_type: "chat", panel_name: "Chat", segment: "fans" };
        const panel = { collection: "panels", type: "panel", creator: "ada", owner: "ada", site_id: site.id, slug: "chat", renderer };
        return (await site.call("createChannelTemplate", { body: templateBody(site, [panel]) })).as(ChannelTemplate)._id;
      },
      (site, templateId) => site.call("updateChannelTemplate", { params: { templateId }, body: templateBody(site, []) }),
    ],
    [
      "rundowns",
      async (site) => {
        const item = { kind: "broadcast", name: "Goal", overlayId: await newTemplate(site), broadcast: { segment: "fans" } };
        const body = { channelId: site.channels[0], name: "Derby", items: [{ kind: "note", name: "Kick-off" }, item] };
        return (await site.call("createRundown", { body })).as(Rundown)._id;
      },
      (site, id) => site.call("deleteRundown", { params: { id } }),
    ],
    [
      "schedule",
      async (site) => {
        const broadcast = { channelId: site.channels[0], segment: "fans", variables: { scorer: "Ada" } };
        const body = { kind: "overlay.broadcast", targetId: await newTemplate(site), in: 600, broadcast };
        return (await site.call("scheduleAction", { body })).as(ScheduledAction)._id;
      },
      (site, id) => site.call("cancelScheduledAction", { params: { id } }),
    ],
  ])("stay while %s use them", async ([kind, use, stopUsing]) => {
    const site = await newSite();
    await save(site, { fans: segment(tagged("team:home")), others: segment(tagged("team:away")) });
    const id = await use(site);
    expect(await save(site, {})).toMatchObject({ status: 409, fields: [`${kind}.${id}`] });
    expect((await save(site, { fans: segment(tagged("team:home")) })).status).toBe(200);
    expect((await stopUsing(site, id)).status).toBeLessThan(300);
    expect((await save(site, {})).status).toBe(200);
  });

  test("are those that panels can be for", async () => {
    const [site, other] = [await newSite(), await newSite()];
    await save(other, { fans: segment(tagged("team:home")) });
    expect(await site.call("createPanel", { body: panelBody(site, "fans") })).toMatchObject({
      status: 400,
      fields: ["renderer.segment"],
    });
  });
});

describe("the size of a segment", () => {
  let site: TestSite;
  let people: { id: string; viewer: SegmentViewer }[];
  let boards: string[];

  beforeAll(async () => {
    site = await newSite();
    people = [];
    const { newBoard, board } = leaderboardsOf(() => site);
    boards = [(await newBoard())._id, (await newBoard())._id];
    const stamps = { created: 1, modified: 1, version: 1 };
    const shapes = fc.sample(
      fc.record({
        tags: fc.subarray(["team:home", "team:away", "tier:gold"]),
        entitlements: fc.subarray(["season-pass", "match-pass"]),
        roles: fc.subarray(["*", "Chat_Moderator"] as const),
        watchSeconds: fc.constantFrom(0, 60, 90, 600),
        points: fc.dictionary(fc.constantFrom(...boards), fc.constantFrom(-3, 1, 49, 50, 700), { noNullPrototype: true }),
      }),
      { numRuns: 20, seed: 7 },
    );
    for (const [index, shape] of shapes.entries()) {
      const roles = shape.roles.map((scope) => ({ scope, pageId: [site.channels[0]], write: false }));
      const { id } = await site.addAccount(`fan-${index}`, roles, shape.tags);
      people.push({ id, viewer: { ...shape, signedIn: true, language: null, country: null } });
      for (const [boardId, points] of Object.entries(shape.points))
        await board(boardId).award([{ accountId: id, points, reason: "", cause: `award/${id}`, at: 1, rule: null }]);
      const own = { siteId: site.id, accountId: id };
      for (const sku of shape.entitlements) {
        const held = { ...stamps, ...own, sku, grantedMethod: "customerService" as const, dateGranted: 1 };
        await db.insert(accountEntitlements).values([
          { ...held, id: newId(1), status: "active" },
          // Never counts, because it has ended.
          { ...held, id: newId(1), sku: sku === "season-pass" ? "match-pass" : "season-pass", status: "cancelled" },
        ]);
      }
      if (shape.watchSeconds === 0) continue;
      const part = {
        ...own,
        kind: "watch" as const,
        channelId: site.channels[0],
        startMinute: 1,
        seconds: shape.watchSeconds / 2,
        firstAt: 1,
        lastAt: 1,
      };
      await db.insert(viewerActivity).values([
        { ...part, targetId: "one" },
        { ...part, targetId: "two" },
      ]);
    }
    people.push(
      ...Object.values(site.accounts).map(({ id, roles }) => ({
        id,
        viewer: {
          ...{ signedIn: true, entitlements: [], language: null, country: null, watchSeconds: 0, points: {} },
          tags: id === site.accounts.viewer.id ? ["team:home"] : [],
          roles: roles.map(({ scope }) => scope),
        },
      })),
    );
  });

  const counted = (filter: SegmentFilter, on = site) => countMatching(systemCtx({ env, db, now: Date.now() }, on.id, "test"), filter);

  test("counts exactly the accounts that its filter matches, for any filter", async () => {
    await fc.assert(
      fc.asyncProperty(storedFilter(boards), async (filter) => {
        expect(await counted(filter)).toBe(people.filter(({ viewer }) => matches(filter, viewer)).length);
      }),
      { numRuns: 60 },
    );
  });

  test("counts by points without deleted accounts, at any size, and combines them with other conditions up to a limit", async () => {
    const own = await newSite();
    const { newBoard, board } = leaderboardsOf(() => own);
    const { _id } = await newBoard();
    const atLeast = (value: number): SegmentFilter => ({ attribute: "points", operator: "at_least", value, leaderboardId: _id });
    const few: SegmentFilter = { ...atLeast(5), operator: "less_than" };
    const { viewer, reader } = own.accounts;
    const award = { points: 5, reason: "", at: 1, rule: null };
    await board(_id).award([viewer, reader].map(({ id }) => ({ ...award, accountId: id, cause: `award/${id}` })));
    const all = Object.keys(own.accounts).length;
    expect(await Promise.all([atLeast(5), few, atLeast(6)].map((filter) => counted(filter, own)))).toEqual([2, all - 2, 0]);
    // On another site, the leaderboard is unknown and counts as 0 points.
    expect(await counted(atLeast(5), site)).toBe(0);
    await board(_id).erase(reader.id);
    await db.delete(accounts).where(eq(accounts.id, reader.id));
    expect(await Promise.all([atLeast(5), few].map((filter) => counted(filter, own)))).toEqual([1, all - 2]);
    for (let from = 0; from < MAX_MEMBERS; from += 5_000)
      await board(_id).award(
        Array.from({ length: 5_000 }, (_, n) => ({ ...award, accountId: newId(from + n), cause: `award/${from + n}` })),
      );
    const both = (value: number): SegmentFilter => ({ all: [atLeast(value), tagged("team:home")] });
    expect(await Promise.all([atLeast(5), both(5), both(6)].map((filter) => counted(filter, own)))).toEqual([MAX_MEMBERS + 1, null, 0]);
  });

  test("is for keys and admins, of the site alone", async () => {
    await save(site, {
      fans: segment(tagged("team:home")),
      readers: segment({ attribute: "language", operator: "any_of", value: ["en"] }),
    });
    const size = (slug: string, on = site) => on.call("getSegmentSize", { params: { slug } });
    const expected = people.filter(({ viewer }) => viewer.tags.includes("team:home")).length;
    expect((await size("fans")).as(SegmentSize)).toEqual({ slug: "fans", name: "Fans", accounts: expected, viewers: 0, channels: [] });
    expect((await size("readers")).as(SegmentSize).accounts).toBeNull();
    expect((await size("unknown")).status).toBe(404);
    expect((await size("constructor")).status).toBe(404);
    expect((await size("fans", await newSite())).status).toBe(404);
    for (const as of ["viewer", "creator"] as const)
      expect((await site.call("getSegmentSize", { as, params: { slug: "fans" } })).status).toBe(403);
  });
});
