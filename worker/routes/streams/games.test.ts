import { env } from "cloudflare:workers";
import { afterEach, beforeAll, expect, test } from "vitest";
import { gamesDatabase } from "#test/games-database.ts";
import { type ApiResponse, newSite, type TestSite } from "#test/harness.ts";
import { findGames } from "#worker/integrations/games.ts";
import { randomHex } from "#worker/lib/ids.ts";
import { GameList } from "#worker/services/streams/schemas.ts";

let site: TestSite;

beforeAll(async () => {
  site = await newSite();
});

afterEach(() => {
  gamesDatabase.errors.length = 0;
  gamesDatabase.tokenStatus = 200;
});

/** A name that hasn't been searched for yet. */
const newName = (): string => `football ${randomHex(6)}`;
const search = (gameName: string, query: Record<string, number> = {}): Promise<ApiResponse> =>
  site.call("searchGames", { query: { gameName, ...query } });

test("games are found by name, a page at a time", async () => {
  const name = newName();
  const response = await search(name, { limit: 5, offset: 10 });
  expect(response.as(GameList)).toEqual({
    results: [{ id: 17, name: "Pocket Football" }],
    pagination: { limit: 5, offset: 10, pageResults: 1, totalCount: 1 },
  });
  expect(gamesDatabase.queries.at(-1)).toBe(`search "${name}"; fields name; limit 5; offset 10;`);
});

test("a search is cached whatever its case, but not for another page", async () => {
  const name = newName();
  const before = gamesDatabase.queries.length;
  const first = await search(name);
  expect((await search(name.toUpperCase())).body).toEqual(first.body);
  expect(gamesDatabase.queries.length - before).toBe(1);
  await search(name, { offset: 50 });
  expect(gamesDatabase.queries.length - before).toBe(2);
});

test("a token is used until it is rejected, then replaced", async () => {
  await search(newName());
  const { tokens } = gamesDatabase;
  await search(newName());
  expect(gamesDatabase.tokens).toBe(tokens);
  gamesDatabase.errors.push(401);
  expect((await search(newName())).status).toBe(200);
  expect(gamesDatabase.tokens).toBe(tokens + 1);
});

test("a name can't break out of its quotes", async () => {
  await search(`${newName()}"; fields *; where name = "\\`);
  expect(gamesDatabase.queries.at(-1)).toMatch(/^search "[^"\\]*"; fields name; limit 50; offset 0;$/);
});

test("a failure of the games database is reported and not cached", async () => {
  const name = newName();
  gamesDatabase.errors.push(500);
  expect((await search(name)).problem?.code).toBe("unavailable");
  expect((await search(name)).status).toBe(200);
  gamesDatabase.errors.push(401);
  gamesDatabase.tokenStatus = 400;
  expect((await search(newName())).problem?.code).toBe("unavailable");
});

test.each(["TIFO_IGDB_CLIENT_ID", "TIFO_IGDB_CLIENT_SECRET"])("the search is not configured without %s", async (name) => {
  const query = { gameName: newName(), limit: 1, offset: 0 };
  await expect(findGames({ ...env, [name]: "" }, query, Date.now())).rejects.toMatchObject({ code: "games_not_configured" });
});
