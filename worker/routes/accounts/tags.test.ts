import { eq } from "drizzle-orm";
import { beforeAll, describe, expect, test } from "vitest";
import { createDb } from "#db/client.ts";
import { accounts } from "#db/schema/accounts.ts";
import { type ApiResponse, newSite, ORIGIN, send, type TestSite } from "#test/harness.ts";
import { operationOf } from "#test/openapi.ts";
import { newId } from "#worker/lib/ids.ts";
import { EventList } from "#worker/services/webhooks/schemas.ts";
import { Account, BulkTagsAnswer, BulkTagsIssues } from "#worker/services/accounts/schemas.ts";
import { siteStore } from "#test/site-store.ts";

const db = createDb(siteStore);

let site: TestSite;
let other: TestSite;

beforeAll(async () => {
  [site, other] = [await newSite(), await newSite()];
});

async function tagsOf(id: string): Promise<string[] | undefined> {
  return (await db.select().from(accounts).where(eq(accounts.id, id)))[0]?.tags;
}

describe("an account's tags", () => {
  const change = async (operationId: string, id: string, tags: string[], headers?: Record<string, string>): Promise<ApiResponse> =>
    site.call(operationId, { as: headers ? "nobody" : "developer", params: { id }, body: { tags }, ...(headers ? { headers } : {}) });

  test("are replaced or added to, without duplicates and in order", async () => {
    const { id } = await site.addAccount("tagged", []);
    expect((await change("setAccountTags", id, ["b", "a", "b"])).as(Account).tags).toEqual(["b", "a"]);
    expect((await change("addAccountTags", id, ["c", "a"])).as(Account).tags).toEqual(["b", "a", "c"]);
    expect((await change("setAccountTags", id, [])).as(Account).tags).toEqual([]);
  });

  test("are limited to 200, of at most 100 characters each", async () => {
    const { id } = await site.addAccount("full", []);
    const many = Array.from({ length: 200 }, (_, index) => `tag-${index}`);
    expect((await change("setAccountTags", id, many)).status).toBe(200);
    expect((await change("addAccountTags", id, ["one more"])).problem).toMatchObject({ status: 400, issues: [{ path: "tags" }] });
    expect((await change("addAccountTags", id, ["tag-7"])).status).toBe(200);
    expect((await change("setAccountTags", id, ["x".repeat(101)])).status).toBe(400);
  });

  test("can be changed by the operator without a client id, with the event on the account's own site", async () => {
    const { id } = await site.addAccount("remote", []);
    const operator = await site.headersOf("super");
    expect((await change("addAccountTags", id, ["vip"], operator)).as(Account)).toMatchObject({ siteId: site.id, tags: ["vip"] });
    expect((await change("setAccountTags", id, ["vvip"], { ...operator, "Tifo-Client-Id": site.id })).status).toBe(200);
    expect((await change("setAccountTags", id, [], { ...operator, "Tifo-Client-Id": other.id })).status).toBe(404);
    expect((await change("setAccountTags", other.accounts.viewer.id, [])).status).toBe(404);
    const { results } = (await site.call("listEvents", { query: { types: "account.tagsUpdated" } })).as(EventList);
    expect(results.filter((event) => event.resource === `account/${id}`).map((event) => event.data.tags)).toEqual([["vip"], ["vvip"]]);
  });
});

describe("tagging in bulk", () => {
  const bulk = async (csv: BodyInit, headers: Record<string, string> = {}): Promise<ApiResponse> =>
    send(operationOf("addTagsInBulk"), new URL("/add-tags/bulk", ORIGIN), {
      method: "POST",
      headers: { "Tifo-Client-Id": site.id, ...(await site.headersOf("super")), "Content-Type": "text/csv; charset=utf-8", ...headers },
      body: csv,
    });

  test("adds tags, and quoted lists of tags, to those of the accounts", async () => {
    const one = await site.addAccount("one", [], ["old"]);
    const two = await site.addAccount("two", []);
    const response = await bulk(`tag_name,account_id\r\n"team:home, old",${one.id}\r\ntier:gold,${two.id}\r\nlate,${one.id}\r\n`);
    expect(response.as(BulkTagsAnswer.strict())).toEqual({ success: true, tagged: 2 });
    expect(await tagsOf(one.id)).toEqual(["old", "team:home", "late"]);
    expect(await tagsOf(two.id)).toEqual(["tier:gold"]);
    const { results } = (await site.call("listEvents", { query: { types: "account.tagsAdded" } })).as(EventList);
    expect(results.at(-1)?.data).toEqual({
      siteId: site.id,
      accounts: [
        { _id: one.id, tags: ["team:home", "old", "late"] },
        { _id: two.id, tags: ["tier:gold"] },
      ],
    });
  });

  test("returns 207 and lists each rejected row; the others are processed", async () => {
    const good = await site.addAccount("good", []);
    const full = await site.addAccount(
      "at-200",
      [],
      Array.from({ length: 200 }, (_, index) => `tag-${index}`),
    );
    const foreign = other.accounts.viewer.id;
    const nobody = newId(Date.now());
    const response = await bulk(
      `account_id,tag_name\n${good.id},a\n${foreign},a\n${nobody},a\nxyz,a\n${good.id},\n${good.id},b,c\n${good.id},${"x".repeat(101)}\n${full.id},more\n`,
    );
    expect(response.status).toBe(207);
    const { success, message, tagged, details } = response.as(BulkTagsIssues);
    expect({ success, message, tagged }).toEqual({ success: false, message: "Tagging encountered issues with some accounts.", tagged: 1 });
    expect(details).toEqual([
      { accountId: "xyz", message: "Not an account id: 24 lowercase hex characters" },
      { accountId: good.id, message: "No tag given" },
      { accountId: good.id, message: "3 columns instead of 2; put a list of tags in quotes" },
      { accountId: good.id, message: "A tag has at most 100 characters" },
      { accountId: foreign, message: "Account not found" },
      { accountId: nobody, message: "Account not found" },
      { accountId: full.id, message: "An account has at most 200 tags" },
    ]);
    expect(await tagsOf(good.id)).toEqual(["a"]);
    expect(await tagsOf(foreign)).toEqual(["team:home"]);
    expect(await tagsOf(full.id)).toHaveLength(200);
  });

  test("emits, for each thousand rows, only what they changed", async () => {
    const almost = Array.from({ length: 199 }, (_, index) => `tag-${index}`);
    const [full, other] = [await site.addAccount("almost", [], almost), await site.addAccount("roomy", [])];
    const strangers = Array.from({ length: 1_000 }, (_, index) => `${newId(index)},x`).join("\n");
    const csv = `account_id,tag_name\n${full.id},last\n${strangers}\n${full.id},too-many\n${other.id},too-many\n`;
    const { tagged, details } = (await bulk(csv)).as(BulkTagsIssues);
    expect(tagged).toBe(2);
    expect(details.at(-1)).toEqual({ accountId: full.id, message: "An account has at most 200 tags" });
    const { results } = (await site.call("listEvents", { query: { types: "account.tagsAdded", limit: 200 } })).as(EventList);
    expect(results.slice(-2).map(({ data }) => data.accounts)).toEqual([
      [{ _id: full.id, tags: ["last"] }],
      [{ _id: other.id, tags: ["too-many"] }],
    ]);
  });

  test("processes the rows before a CSV error, and reports its row", async () => {
    const { id } = await site.addAccount("before", []);
    const { details } = (await bulk(`account_id,tag_name\n${id},first\n${id},"open`)).as(BulkTagsIssues);
    expect(details).toEqual([{ accountId: "", message: "Row 3: A quote is never closed" }]);
    expect(await tagsOf(id)).toEqual(["first"]);
  });

  test.for([
    ["", "nothing"],
    ["account_id\n", "too few columns"],
    ["account_id,tag_name,why\n", "too many columns"],
    ["account,tags\n", "other names"],
    ['account_id,"tag_name', "a broken header"],
  ])("rejects %j: %s", async ([csv = ""]) => {
    expect((await bulk(csv)).problem).toMatchObject({ status: 400, code: "invalid_request" });
  });

  test("accepts only text/csv of at most 10 MB", async () => {
    expect((await bulk("account_id,tag_name\n", { "Content-Type": "application/json" })).problem?.status).toBe(415);
    expect((await bulk("x".repeat(10 * 1024 * 1024 + 1))).problem?.status).toBe(413);
  });

  test("accepts at most 50,000 rows", async () => {
    const { id } = await site.addAccount("busy", []);
    const ids = Array.from({ length: 50_001 }, (_, index) => newId(index));
    ids[0] = id;
    const { tagged, details } = (await bulk(`account_id,tag_name\n${ids.map((row) => `${row},t`).join("\n")}`)).as(BulkTagsIssues);
    expect(tagged).toBe(1);
    expect(details).toHaveLength(50_000);
    expect(details.find((detail) => detail.accountId === "")).toEqual({
      accountId: "",
      message: "Row 50002: Only the first 50000 rows were processed",
    });
  });

  test("works with an Idempotency-Key, and replays the response", async () => {
    const { id } = await site.addAccount("twice", []);
    const again = () => bulk(`account_id,tag_name\n${id},once\n`, { "Idempotency-Key": `bulk-${id}` });
    const [first, second] = [await again(), await again()];
    expect(first.as(BulkTagsAnswer).tagged).toBe(1);
    expect(second.headers.get("Idempotent-Replayed")).toBe("true");
    expect(await tagsOf(id)).toEqual(["once"]);
  });

  test("accepts a body in chunks that split characters", async () => {
    const { id } = await site.addAccount("pieces", []);
    const bytes = new TextEncoder().encode(`account_id,tag_name\n${id},"é,🎺"\n`);
    const pieces = new ReadableStream<Uint8Array>({
      start(controller) {
        for (const byte of bytes) controller.enqueue(Uint8Array.of(byte));
        controller.close();
      },
    });
    expect((await bulk(pieces)).as(BulkTagsAnswer).tagged).toBe(1);
    expect(await tagsOf(id)).toEqual(["é", "🎺"]);
  });
});
