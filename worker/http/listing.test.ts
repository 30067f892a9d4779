import fc from "fast-check";
import { eq, inArray } from "drizzle-orm";
import { beforeAll, describe, expect, test } from "vitest";
import { createDb } from "#db/client.ts";
import { overlays } from "#db/schema/overlays.ts";
import { newSite, ORIGIN, type TestSite } from "#test/harness.ts";
import { newId } from "#worker/lib/ids.ts";
import { Overlay } from "#worker/services/overlays/schemas.ts";
import { listOf } from "#worker/services/core/list-schemas.ts";
import { siteStore } from "#test/site-store.ts";

const OverlayList = listOf(Overlay);
const CONTENT = { kind: "html" as const, html: "Goal", position: "center" as const };
const db = createDb(siteStore);

let site: TestSite;

beforeAll(async () => {
  site = await newSite();
});

interface Sample {
  name: string;
  created: number;
}

/** Replaces the site's overlays with these. */
async function stock(samples: Sample[]): Promise<(Sample & { id: string })[]> {
  await db.delete(overlays).where(eq(overlays.siteId, site.id));
  const rows = samples.map((sample) => ({ ...sample, id: newId(sample.created) }));
  for (const row of rows) await db.insert(overlays).values(rowOf(row));
  return rows;
}

function rowOf({ id, name, created }: Sample & { id: string }): typeof overlays.$inferInsert {
  return { id, siteId: site.id, name, description: "", type: "template", duration: 8, contents: [CONTENT], modified: created, created };
}

async function read(query: Record<string, string | number>) {
  return (await site.call("listOverlays", { query })).as(OverlayList);
}

/** Follows the link from page to page. */
async function visit(query: Record<string, string | number>, link: "next" | "prev" = "next") {
  const pages = [await read(query)];
  for (let following = pages[0]?.pagination[link]; following; following = pages.at(-1)?.pagination[link]) {
    pages.push(await read(Object.fromEntries(new URL(following, ORIGIN).searchParams)));
  }
  return pages;
}

/** Compares strings like SQLite: byte by byte. */
function compare(one: string | number, other: string | number): number {
  if (typeof one === "number" && typeof other === "number") return one - other;
  return Buffer.compare(Buffer.from(String(one)), Buffer.from(String(other)));
}

const samples = fc.array(
  fc.record({ name: fc.constantFrom("a", "B", "ä", "Ä", "goal", "Goal", "🎉", "100%", "_"), created: fc.integer({ min: 1, max: 4 }) }),
  { maxLength: 12 },
);
const query = fc.record({
  limit: fc.integer({ min: 1, max: 5 }),
  sortBy: fc.option(fc.constantFrom("created", "name", "modified"), { nil: undefined }),
  sortDirection: fc.option(fc.constantFrom(1, -1, 2), { nil: undefined }),
  search: fc.option(fc.constantFrom("goal", "GOAL", "%", "_", "ä", "Ä", "x"), { nil: undefined }),
});

describe("a list", () => {
  test("contains each matching row exactly once over all its pages, in one order, for any sort field", async () => {
    await fc.assert(
      fc.asyncProperty(samples, query, async (rows, { limit, sortBy, sortDirection, search }) => {
        const stocked = await stock(rows);
        const field = sortBy === "name" ? "name" : "created";
        const sign = (sortDirection ?? (sortBy === undefined ? -1 : 1)) === 1 ? 1 : -1;
        const wanted = stocked
          .filter(({ name }) => search === undefined || fold(name).includes(fold(search)))
          .sort((one, other) => sign * (compare(one[field], other[field]) || compare(one.id, other.id)))
          .map(({ id }) => id);
        const queryParams = Object.fromEntries(
          Object.entries({ limit, sortBy, sortDirection, search }).flatMap(([name, value]) => (value === undefined ? [] : [[name, value]])),
        );
        const pages = await visit(queryParams);
        expect(pages.flatMap(({ results }) => results.map(({ _id }) => _id))).toEqual(wanted);
        for (const [index, { pagination, results }] of pages.entries()) {
          expect(pagination).toMatchObject({
            limit,
            totalCount: wanted.length,
            pageResults: results.length,
            offset: index * limit,
            search: search ?? null,
          });
        }
        expect((await visit({ ...queryParams, offset: Math.max(0, wanted.length - 1) }, "prev")).at(-1)?.pagination.prev).toBeNull();
      }),
      { numRuns: 40 },
    );
  });

  test.for<[what: string, change: (rows: { id: string }[]) => Promise<unknown>]>([
    [
      "deleted",
      (rows) =>
        db.delete(overlays).where(
          inArray(
            overlays.id,
            rows.slice(0, 5).map(({ id }) => id),
          ),
        ),
    ],
    ["added", () => db.insert(overlays).values([1, 2, 3, 4, 5].map((created) => rowOf({ id: newId(created), name: "x", created })))],
  ])("continues after the last row read when earlier rows are %s in between", async ([, change]) => {
    const rows = await stock(Array.from({ length: 15 }, (_, i) => ({ name: "x", created: 100 + i })));
    const first = await read({ limit: 5, sortBy: "created" });
    await change(rows);
    const rest = await visit(Object.fromEntries(new URL(first.pagination.next ?? "", ORIGIN).searchParams));
    const seen = rest.map(({ results }) => results.map(({ created }) => created));
    expect(seen).toEqual([
      [105, 106, 107, 108, 109],
      [110, 111, 112, 113, 114],
    ]);
  });

  test("links to its first and last page with the caller's parameters", async () => {
    await stock(Array.from({ length: 7 }, (_, i) => ({ name: `goal ${i}`, created: i })));
    const { pagination } = await read({ limit: 3, search: "goal", type: "template", offset: 3, sortBy: "name" });
    const params = (link: string | null) => Object.fromEntries(new URL(link ?? "", ORIGIN).searchParams);
    const own = { limit: "3", search: "goal", type: "template", sortBy: "name" };
    expect(params(pagination.first)).toEqual({ ...own, offset: "0" });
    expect(params(pagination.prev)).toEqual({ ...own, offset: "0" });
    expect(params(pagination.last)).toEqual({ ...own, offset: "6" });
    expect(params(pagination.self)).toEqual({ ...own, offset: "3" });
    const last = await read(params(pagination.last));
    expect(last.results.map(({ name }) => name)).toEqual(["goal 6"]);
    expect(last.pagination.next).toBeNull();
  });

  test("continues by its cursor at any offset, also beyond a million rows", async () => {
    await stock([1, 2, 3].map((created) => ({ name: "x", created })));
    const { pagination } = await read({ limit: 1 });
    const following = Object.fromEntries(new URL(pagination.next ?? "", ORIGIN).searchParams);
    const late = await read({ ...following, offset: 7_000_000 });
    expect(late.results.map(({ created }) => created)).toEqual([2]);
    expect(new URL(late.pagination.next ?? "", ORIGIN).searchParams.get("offset")).toBe("7000001");
    expect(await read({ offset: 7_000_000 })).toMatchObject({ results: [], pagination: { offset: 7_000_000 } });
  });

  test("rejects a cursor of a different sort order than the requested one", async () => {
    await stock([1, 2, 3].map((created) => ({ name: `goal ${created}`, created })));
    const { pagination } = await read({ limit: 1, sortBy: "name", sortDirection: 1 });
    const cursor = new URL(pagination.next ?? "", ORIGIN).searchParams.get("cursor") ?? "";
    const others: Record<string, string | number>[] = [{ sortBy: "created", sortDirection: 1 }, { sortBy: "name", sortDirection: -1 }, {}];
    for (const order of others)
      expect(await site.call("listOverlays", { query: { ...order, cursor } })).toMatchObject({ status: 400, fields: ["cursor"] });
    expect((await read({ limit: 1, sortBy: "name", cursor })).results.map(({ name }) => name)).toEqual(["goal 2"]);
  });

  test("is empty beyond its end, with the total count", async () => {
    await stock([{ name: "x", created: 1 }]);
    expect(await read({ offset: 10 })).toMatchObject({ results: [], pagination: { totalCount: 1, next: null, pageResults: 0 } });
  });

  test("rejects a malformed cursor", async () => {
    for (const cursor of ["x", "bnVsbA", "W10", Buffer.from('["created",-1,{"a":1},"x"]').toString("base64url")]) {
      expect(await site.call("listOverlays", { query: { cursor } })).toMatchObject({ status: 400, fields: ["cursor"] });
    }
  });
});

/** Without case and the accents of the samples. */
function fold(text: string): string {
  return text.replace(/[äÄ]/g, "a").toLowerCase();
}
