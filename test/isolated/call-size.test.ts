import { runInDurableObject } from "cloudflare:test";
import { env } from "cloudflare:workers";
import { expect, test } from "vitest";
import { pageOf } from "#worker/durable-objects/call-size.ts";
import { newId } from "#worker/lib/ids.ts";

test("a page that ends before its rows do leaves no statement open, which would hold a lock", async () => {
  await runInDurableObject(env.LIMITER.getByName(newId(Date.now())), (_, { storage: { sql } }) => {
    sql.exec("CREATE TABLE texts (body TEXT); INSERT INTO texts VALUES ('one'), ('two'), ('three')");
    const rows = () => sql.exec<{ body: string }>("SELECT body FROM texts");
    expect(pageOf(rows(), 6)).toEqual({ page: [{ body: "one" }, { body: "two" }], more: true });
    expect(pageOf(rows(), 1)).toEqual({ page: [{ body: "one" }], more: true });
    expect(pageOf(rows(), 11)).toMatchObject({ page: { length: 3 }, more: false });
    sql.exec("DROP TABLE texts");
  });
});
