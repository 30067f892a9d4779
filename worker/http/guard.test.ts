import { env } from "cloudflare:workers";
import { eq } from "drizzle-orm";
import { describe, expect, test } from "vitest";
import { createDb, type DbGuard } from "#db/client.ts";
import { accounts } from "#db/schema/accounts.ts";
import { sites } from "#db/schema/sites.ts";
import { newSite } from "#test/harness.ts";
import { checkSuperKey } from "#worker/services/auth/identity.ts";
import { siteStore } from "#test/site-store.ts";

/** A guard that is pending until its query returns, and then accepts or rejects. */
function newGuard(rejects = false): DbGuard {
  let open = true;
  return {
    pending: () => (open ? { sql: "select 'caller'", params: [] } : undefined),
    settle(row) {
      expect(row).toEqual(["caller"]);
      if (rejects) throw new Error("rejected");
      open = false;
    },
  };
}

function guarded(rejects = false) {
  const usage = { roundTrips: 0, statements: 0 };
  return { db: createDb(siteStore, newGuard(rejects), usage), usage };
}

describe("the guard of a request's database", () => {
  test("runs in the batch of the first reads, and not again", async () => {
    const { id } = await newSite();
    const { db, usage } = guarded();
    const read = db.select({ id: sites.id }).from(sites).where(eq(sites.id, id));
    const [first, second] = await db.batch([read, db.select({ name: sites.name }).from(sites).where(eq(sites.id, id))]);
    expect([first, second]).toEqual([[{ id }], [{ name: "Harbour City FC" }]]);
    expect(usage).toEqual({ roundTrips: 1, statements: 3 });
    expect(await read).toEqual([{ id }]);
    expect(usage).toEqual({ roundTrips: 2, statements: 4 });
  });

  test("runs before a first write, also one that returns rows", async () => {
    const { id } = await newSite();
    const { db, usage } = guarded();
    const changed = await db.update(sites).set({ name: "Changed" }).where(eq(sites.id, id)).returning({ name: sites.name });
    expect(changed).toEqual([{ name: "Changed" }]);
    expect(usage).toEqual({ roundTrips: 2, statements: 2, writes: 1 });
  });

  test("prevents all reads and writes when it rejects, alone or in a batch", async () => {
    const { id } = await newSite();
    const { db } = guarded(true);
    const read = db.select({ name: sites.name }).from(sites).where(eq(sites.id, id));
    const write = db.update(sites).set({ name: "Changed" }).where(eq(sites.id, id));
    await expect(read).rejects.toThrow();
    await expect(write).rejects.toThrow();
    await expect(db.batch([read, write])).rejects.toThrow();
    await expect(db.batch([write, read])).rejects.toThrow();
    expect(await createDb(siteStore).select({ name: sites.name }).from(sites).where(eq(sites.id, id))).toEqual([
      { name: "Harbour City FC" },
    ]);
  });
});

test("an empty super key is rejected, even if the deployment has none", async () => {
  for (const TIFO_SUPER_KEY of ["", env.TIFO_SUPER_KEY]) {
    await expect(checkSuperKey({ ...env, TIFO_SUPER_KEY }, "", undefined)).rejects.toMatchObject({ code: "unauthenticated" });
  }
});

test("columns with the same name, which a batch would merge, are rejected before anything is sent", async () => {
  const { db, usage } = guarded();
  const joined = db.select({ site: sites.id, account: accounts.id }).from(sites).innerJoin(accounts, eq(accounts.siteId, sites.id));
  await expect(joined).rejects.toThrow();
  expect(usage.roundTrips).toBeLessThanOrEqual(1);
});
