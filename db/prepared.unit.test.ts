import { and, eq, sql } from "drizzle-orm";
import { drizzle } from "drizzle-orm/sqlite-proxy";
import { describe, expect, test, vi } from "vitest";
import { type Db } from "./client.ts";
import { prepared } from "./prepared.ts";
import { pages } from "./schema/pages.ts";

const build = vi.fn((db: Db) =>
  db
    .select({ id: pages.id, tags: pages.tags })
    .from(pages)
    .where(and(eq(pages.siteId, sql.placeholder("siteId")), eq(pages.id, sql.placeholder("id")))),
);

describe("a prepared statement", () => {
  test("is compiled once, on its first use, and gets new values for each execution", () => {
    build.mockClear();
    const byId = prepared(build);
    expect(build).not.toHaveBeenCalled();
    const [one, other] = [byId({ siteId: "s", id: "a" }).toSQL(), byId({ siteId: "s", id: "b" }).toSQL()];
    expect(build).toHaveBeenCalledOnce();
    expect([one.params, other.params]).toEqual([
      ["s", "a"],
      ["s", "b"],
    ]);
    expect(other.sql).toBe(one.sql);
  });

  test("sends and maps the same in a batch as the plain select", async () => {
    const sent: unknown[] = [];
    const db: Db = drizzle(
      () => Promise.reject(new Error("alone")),
      async (queries) => {
        sent.push(...queries.map(({ sql: text, params, method }) => ({ text, params, method })));
        return queries.map(() => ({ rows: [["a", '["derby"]']] }));
      },
    );
    const plain = db
      .select({ id: pages.id, tags: pages.tags })
      .from(pages)
      .where(and(eq(pages.siteId, "s"), eq(pages.id, "a")));
    const [fromPrepared, fromPlain] = await db.batch([prepared(build)({ siteId: "s", id: "a" }), plain]);
    expect(fromPrepared).toEqual([{ id: "a", tags: ["derby"] }]);
    expect(fromPrepared).toEqual(fromPlain);
    expect(sent[0]).toEqual(sent[1]);
  });

  test("throws if a value is missing", () => {
    expect(() => prepared(build)({ siteId: "s" }).toSQL()).toThrow('No value for placeholder "id"');
  });
});
