import { and, eq, sql } from "drizzle-orm";
import { drizzle } from "drizzle-orm/sqlite-proxy";
import { describe, expect, test, vi } from "vitest";
import { type Db } from "./client.ts";
import { prepared } from "./prepared.ts";
import { pages } from "./schema/index.ts";

const build = vi.fn((db: Db) =>
  db
    .select({ id: pages.id, tags: pages.tags })
    .from(pages)
    .where(and(eq(pages.siteId, sql.placeholder("siteId")), eq(pages.id, sql.placeholder("id")))),
);

describe("a prepared statement", () => {
  test("is built once, on its first use, and filled in for each run", () => {
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

  test("asks and reads in a batch as the same select would", async () => {
    const asked: unknown[] = [];
    const db: Db = drizzle(
      () => Promise.reject(new Error("alone")),
      async (queries) => {
        asked.push(...queries.map(({ sql: text, params, method }) => ({ text, params, method })));
        return queries.map(() => ({ rows: [["a", '["derby"]']] }));
      },
    );
    const plain = db
      .select({ id: pages.id, tags: pages.tags })
      .from(pages)
      .where(and(eq(pages.siteId, "s"), eq(pages.id, "a")));
    const [ours, same] = await db.batch([prepared(build)({ siteId: "s", id: "a" }), plain]);
    expect(ours).toEqual([{ id: "a", tags: ["derby"] }]);
    expect(ours).toEqual(same);
    expect(asked[0]).toEqual(asked[1]);
  });

  test("refuses to run without one of its values", () => {
    expect(() => prepared(build)({ siteId: "s" }).toSQL()).toThrow('No value for placeholder "id"');
  });
});
