import { and, eq } from "drizzle-orm";
import { beforeAll, describe, expect, test } from "vitest";
import { createDb } from "#db/client.ts";
import { accounts, userProfiles } from "#db/schema/accounts.ts";
import { committedEvents } from "#test/committed-events.ts";
import { type ApiResponse, newSite, PASSWORD, type TestSite } from "#test/harness.ts";
import { interruptedContext } from "#test/interrupted-context.ts";
import { randomHex } from "#worker/lib/ids.ts";
import { importAccounts } from "#worker/services/accounts/import.ts";
import { AccountImport, MOST_ACCOUNTS } from "#worker/services/accounts/import-schemas.ts";
import { Account } from "#worker/services/accounts/schemas.ts";
import { siteStore } from "#test/site-store.ts";

const db = createDb(siteStore);

let site: TestSite;
let other: TestSite;

beforeAll(async () => {
  [site, other] = [await newSite(), await newSite()];
});

const newEmail = (): string => `${randomHex(6)}@fans.example`;

async function send(entries: { email: string; name: string }[], on = site): Promise<{ answer: AccountImport; response: ApiResponse }> {
  const response = await on.call("importAccounts", { body: { accounts: entries } });
  expect(response.status).toBe(200);
  return { answer: response.as(AccountImport), response };
}

/** The data of the events of this type, by resource. */
async function eventsOf(type: string): Promise<{ resource: string; data: unknown }[]> {
  const events = (await committedEvents([site.id])).filter((event) => event.type === type);
  return events.map(({ resource, data }) => {
    const parsed: unknown = JSON.parse(data);
    return { resource, data: parsed };
  });
}

const read = async (id: string) => (await site.call("getAccount", { params: { id } })).as(Account);

describe("an import of accounts", () => {
  test("creates accounts that are the same as those created one by one, with their profiles and events", async () => {
    const emails = [newEmail(), newEmail()];
    const { answer } = await send(emails.map((email) => ({ email: ` ${email.toUpperCase()} `, name: " Zoë Ünal " })));
    expect(answer).toMatchObject({ created: 2, updated: 0, unchanged: 0, rejected: 0 });
    const [id = "", second = ""] = answer.results.map(({ _id }) => _id ?? "");
    const created = await read(id);
    const single = (await site.call("upsertAccount", { body: { email: newEmail(), name: "Zoë Ünal" } })).as(Account);
    const { _id, uid, email, hash, created: at, modified, ...rest } = created;
    expect(single).toMatchObject(rest);
    expect({ _id, uid, email, at: at === modified, hash: hash.length }).toEqual({ _id: id, uid: id, email: emails[0], at: true, hash: 64 });
    const [profile] = await db.select().from(userProfiles).where(eq(userProfiles.accountId, second));
    expect(profile).toMatchObject({ siteId: site.id, name: "Zoë Ünal", version: 1 });
    const [one, another] = await Promise.all([id, single._id].map((account) => db.select().from(accounts).where(eq(accounts.id, account))));
    const own = { id: "", email: "", emailHash: "", created: 0, modified: 0 };
    expect({ ...one?.[0], ...own }).toEqual({ ...another?.[0], ...own });
    const events = await eventsOf("new_account");
    expect(events.find(({ resource }) => resource === `account/${id}`)?.data).toEqual(created);
  });

  test("renames those that exist, whatever their role, and changes nothing else about them", async () => {
    const { viewer, admin } = site.accounts;
    const before = await read(admin.id);
    const entries = [
      { email: viewer.email.toUpperCase(), name: "Renamed" },
      { email: admin.email, name: "Boss" },
    ];
    const first = await send(entries);
    expect(first.answer.results).toEqual([
      { _id: viewer.id, outcome: "updated", message: null },
      { _id: admin.id, outcome: "updated", message: null },
    ]);
    const after = await read(admin.id);
    expect(after).toEqual({ ...before, name: "Boss", normalizedName: "boss", modified: after.modified });
    expect((await db.select().from(userProfiles).where(eq(userProfiles.accountId, viewer.id)))[0]?.name).toBe("Renamed");
    expect((await site.call("login", { as: "nobody", body: { email: admin.email, password: PASSWORD, siteId: site.id } })).status).toBe(
      200,
    );
    const events = await eventsOf("account.updated");
    expect(events.filter(({ resource }) => resource === `account/${admin.id}`).map(({ data }) => data)).toEqual([after]);
    expect((await send(entries)).answer).toMatchObject({ updated: 0, unchanged: 2 });
    expect((await eventsOf("account.updated")).length).toBe(events.length);
  });

  test("rejects an invalid entry by itself", async () => {
    const email = newEmail();
    const { answer } = await send([
      { email: "nobody", name: "A" },
      { email, name: "Ada" },
      { email: `${email.toUpperCase()}`, name: "Twice" },
      { email: newEmail(), name: "  " },
      { email: newEmail(), name: "Two\nlines" },
      { email: "a@no-mail.invalid", name: "A" },
    ]);
    expect(answer).toMatchObject({ created: 1, rejected: 5 });
    expect(answer.results.map(({ outcome }) => outcome)).toEqual(["rejected", "created", ...Array<string>(4).fill("rejected")]);
    expect(answer.results.filter(({ message, _id }) => (message === null) === (_id === null))).toEqual([]);
    expect((await read(answer.results[1]?._id ?? "")).name).toBe("Ada");
  });

  test("only concerns the site, which may share addresses with others", async () => {
    const { viewer } = other.accounts;
    const { answer } = await send([{ email: viewer.email, name: "Elsewhere" }]);
    expect(answer).toMatchObject({ created: 1 });
    const [unchanged] = await db.select().from(accounts).where(eq(accounts.id, viewer.id));
    expect(unchanged).toMatchObject({ siteId: other.id, name: "viewer" });
  });

  test("renames an account that a concurrent request has created", async () => {
    const email = newEmail();
    const meanwhile = async () => void (await site.call("upsertAccount", { body: { email, name: "One" } }));
    const results = await importAccounts(interruptedContext(site, meanwhile), [
      { email, name: "Two" },
      { email: newEmail(), name: "New" },
    ]);
    expect(results.map(({ outcome }) => outcome)).toEqual(["updated", "created"]);
    expect((await read(results[0]?._id ?? "")).name).toBe("Two");
  });

  test("takes at most three round trips to the database and twenty statements for as many accounts as allowed", async () => {
    const entries = Array.from({ length: MOST_ACCOUNTS }, (_, index) => ({ email: newEmail(), name: `Fan ${String(index)}` }));
    const { answer, response } = await send(entries);
    expect(answer.created).toBe(MOST_ACCOUNTS);
    expect(response.log.d1.roundTrips).toBeLessThanOrEqual(3);
    expect(response.log.d1.statements).toBeLessThanOrEqual(20);
    expect(
      await db.$count(
        accounts,
        and(eq(accounts.siteId, site.id), eq(accounts.created, (await read(answer.results[0]?._id ?? "")).created)),
      ),
    ).toBe(MOST_ACCOUNTS);
    const tooMany = await site.call("importAccounts", { body: { accounts: [...entries, { email: newEmail(), name: "One more" }] } });
    expect(tooMany.fields).toEqual(["accounts"]);
  });
});
