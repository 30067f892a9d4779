import { z } from "@hono/zod-openapi";
import { beforeAll, describe, expect, test } from "vitest";
import { createDb } from "#db/client.ts";
import { keyPlays, statEntities } from "#db/schema/stats.ts";
import { foldSql, SEARCHED_TABLES, searchTriggers } from "#db/search-text.ts";
import { foldLetter, foldText } from "#worker/lib/fold-text.ts";
import { newId } from "#worker/lib/ids.ts";
import { Pagination } from "#worker/services/core/list-schemas.ts";
import { validCall } from "./contract-requests.ts";
import { newSite, type TestSite } from "./harness.ts";
import { operationOf, operations } from "./openapi.ts";
import { questionsOf } from "./questions.ts";
import { siteStore } from "#test/site-store.ts";

/** What a row contains, and the texts that must find it. */
const WRITTEN = "Ärger in Łódź: 100%_Straße ΑΘΉΝΑ Ёлка";
const FINDS = ["Ärger", "ÄRGER", "arger", "A\u0308rger", "łódź", "LODZ", "strasse", "100%_S", "αθηνα", "ЁЛКА"];
/** LIKE's wildcards are ordinary characters, and letters differ by more than their accents. */
const MISSES = ["Ärg_r", "Ä%r", "100%%", "100\\%", "erger", "łódz ź"];

/** Where each list's searched text is stored. */
const WRITES: Record<string, [table: string, change: string]> = {
  listAccounts: ["accounts", "normalized_name = ?2"],
  queryRoles: ["accounts", "normalized_name = ?2"],
  listAutomationRules: ["automation_rules", "name = ?1"],
  listBundles: ["bundles", "description = ?1"],
  listCalendarEvents: ["calendar_events", "title = ?1"],
  listClaimStatuses: ["claims", "message = ?1"],
  listMedia: ["media", "file_name = ?1"],
  listNavigations: ["navigations", "name = ?1"],
  listOverlays: ["overlays", "description = ?1"],
  listPanels: ["panels", "panel_name = ?1"],
  listPlaylists: ["playlists", "title = ?1"],
  listPolls: ["polls", "question = ?1"],
  listLeaderboards: ["leaderboards", "name = ?1"],
  listStatEntities: ["stat_entities", "name = ?1"],
  listKeyPlays: ["key_plays", "title = ?1"],
  listRundowns: ["rundowns", "name = ?1"],
  listScheduledActions: ["scheduled_actions", "name = ?1"],
  listQuestions: ["questions", "text = ?1"],
  listQuests: ["quests", "description = ?1"],
  listApiKeys: ["api_keys", "name = ?1"],
  listStreams: ["streams", "title = ?1"],
  listSubscriptions: ["subscriptions", "name = ?1"],
  listVideos: ["videos", "title = ?1"],
  listPages: ["pages", "data = json_set(data, '$.name', ?1)"],
  listChannels: ["pages", "data = json_set(data, '$.name', ?1)"],
  listChannelsAndLandings: ["pages", "data = json_set(data, '$.name', ?1)"],
  listLandings: ["pages", "data = json_set(data, '$.name', ?1)"],
  // Before the lists by title, because its path contains one.
  listCalendarLabels: ["calendar_categories", "label = ?1"],
  listCalendarFilters: ["calendar_categories", "title = ?1"],
  listCalendarCategories: ["calendar_categories", "title = ?1"],
};

/** Lists whose texts are identifiers and addresses in ASCII. */
const PLAIN = [
  "listAccessCodes",
  "listDeliveries",
  "listDevices",
  "listGlobalSites",
  "listInvites",
  "listPlaybackKeys",
  "listStreamProviders",
];

/** Lists whose rows only a payment creates; their texts are stored like the others'. */
const PAID = ["listCharges", "listWalletTransactions"];

/** Lists of the same rows as another, with the same search. */
const SAME = ["listAutomationRulesById", "listLivestreams", "listPlaylistsById"];

/** What has to exist, where no operation of the list's path creates it. */
const PREREQUISITES: Record<string, (site: TestSite) => Promise<unknown>> = {
  listQuestions: (on) => questionsOf(() => on).newQuestion("approved"),
  listLandings: (on) => on.call("createPage", { body: { type: "landing", slug: "landing", data: { name: "Landing" } } }),
  listKeyPlays: (on) => {
    const play = {
      id: newId(Date.now()),
      siteId: on.id,
      channelId: on.channels[0],
      kind: "goal",
      title: "Goal",
      at: 1,
      eventId: "",
      created: 1,
    };
    return createDb(siteStore).insert(keyPlays).values(play);
  },
  listStatEntities: (on) => {
    const entity = { id: newId(Date.now()), siteId: on.id, channelId: on.channels[0], type: "player", externalId: "ada", name: "Ada" };
    return createDb(siteStore)
      .insert(statEntities)
      .values({ ...entity, at: 1, eventId: "", created: 1 });
  },
};

const AnyList = z.looseObject({ results: z.array(z.unknown()), pagination: Pagination });

let site: TestSite;

beforeAll(async () => {
  site = await newSite();
});

const searchable = operations.filter(({ method, parameters }) => method === "get" && parameters.some(({ name }) => name === "search"));

describe("every list that can be searched", () => {
  test.each(searchable.map((operation) => [operation.operationId, operation] as const))(
    "%s is tested below, or searches nothing",
    async (id, operation) => {
      if (WRITES[id] || [...PLAIN, ...PAID, ...SAME].includes(id)) return;
      const response = await site.call(id, await validCall(site, operation));
      const list = z.looseObject({ pagination: Pagination.optional() }).parse(response.body);
      expect(list.pagination?.searchFields ?? []).toEqual([]);
    },
  );

  test.each(Object.entries(WRITES))("%s ignores case and accents, and has no wildcards", async (id, [table, change]) => {
    await PREREQUISITES[id]?.(site);
    const call = await validCall(site, operationOf(id));
    await siteStore
      .prepare(`update or ignore ${table} set ${change} where site_id = '${site.id}'`)
      .bind(...(change.includes("?2") ? ["", foldText(WRITTEN)] : [WRITTEN]))
      .run();
    const count = async (search: string) =>
      (await site.call(id, { ...call, query: { ...call.query, search } })).as(AnyList).pagination.totalCount;
    for (const search of FINDS) expect.soft(await count(search), search).toBeGreaterThan(0);
    for (const search of MISSES) expect.soft(await count(search), search).toBe(0);
  });
});

describe("folding", () => {
  test("is the same in SQL as in JavaScript, for every character of the basic plane", async () => {
    const expected = Array.from({ length: 0x10000 - 0x80 }, (_, index) => String.fromCharCode(index + 0x80))
      .map((letter): [string, string] => [letter, foldLetter(letter)])
      .filter(([letter, plain]) => letter !== plain);
    const { results } = await siteStore.prepare("select letter, plain from search_letters order by letter").all<{
      letter: string;
      plain: string;
    }>();
    expect(Object.fromEntries(results.map(({ letter, plain }) => [letter, plain]))).toEqual(Object.fromEntries(expected));
  });

  test.each([WRITTEN, "", "plain ASCII", "ﬁn, Ⅷ and Ａ", "日本 한국 עברית", "e\u0301\u0323", "🏟️ É"])("gives %j in both", async (text) => {
    const row = await siteStore
      .prepare(`select ${foldSql("?1")} as folded`)
      .bind(text)
      .first();
    expect(row).toEqual({ folded: foldText(text) });
  });

  test("is kept by triggers, which every migration that rebuilds a table must create again", async () => {
    const { results } = await siteStore.prepare("select name, sql from sqlite_master where type = 'trigger'").all<{
      name: string;
      sql: string;
    }>();
    const found = Object.fromEntries(results.map(({ name, sql }) => [name, sql]));
    for (const [name, sql] of SEARCHED_TABLES.flatMap((table) => Object.entries(searchTriggers(table))))
      expect.soft(found[name], name).toBe(sql);
  });

  test("forgets the texts of deleted rows", async () => {
    const call = await validCall(site, operationOf("deleteOverlay"));
    const rows = () => siteStore.prepare("select 1 from search_texts where row_id = ?").bind(call.params?.id).all();
    expect((await rows()).results).toHaveLength(1);
    await site.call("deleteOverlay", call);
    expect((await rows()).results).toEqual([]);
  });
});

test("a name filter finds the whole name, ignoring case and accents", async () => {
  await site.call("createNavigation", { body: { ...(await validBody("createNavigation")), name: "Über uns" } });
  const count = async (name: string) => (await site.call("listNavigations", { query: { name } })).as(AnyList).pagination.totalCount;
  expect(await count("uber UNS")).toBe(1);
  expect(await count("uber")).toBe(0);
});

async function validBody(id: string): Promise<Record<string, unknown>> {
  return z.record(z.string(), z.unknown()).parse((await validCall(site, operationOf(id))).body);
}
