import { env } from "cloudflare:workers";
import { eq } from "drizzle-orm";
import { beforeAll, describe, expect, test } from "vitest";
import { createDb } from "#db/client.ts";
import { mailSenders, receiptTemplates } from "#db/schema/custom-email.ts";
import { type ApiResponse, newSite, type TestSite } from "#test/harness.ts";
import { publishTxt } from "#test/dns-resolver.ts";
import { randomHex } from "#worker/lib/ids.ts";
import { domainProofs } from "#worker/services/custom-email/custom-email.ts";
import { DEFAULT_RECEIPT } from "#worker/services/custom-email/templates.ts";
import { EventList } from "#worker/services/webhooks/schemas.ts";
import { ReceiptTemplate, Sender } from "#worker/services/custom-email/schemas.ts";
import { siteStore } from "#test/site-store.ts";

let site: TestSite;

beforeAll(async () => {
  site = await newSite();
});

const newDomain = (): string => `${randomHex(6)}.example`;

const senderOf = (domain: string) => ({
  domain,
  fromEmail: `tickets@${domain}`,
  fromName: "Harbour City FC",
  replyToEmail: "help@elsewhere.example",
});

const putSender = (body: Record<string, unknown>, on = site): Promise<ApiResponse> => on.call("putSenderEmail", { body });

/** The TXT value in an error message. */
const expectedTxt = (response: ApiResponse): string =>
  /"(tifo-verification=[0-9a-f]{32})"/.exec(response.problem?.message ?? "")?.[1] ?? "none";

async function newVerifiedDomain(on = site): Promise<string> {
  const domain = newDomain();
  publishTxt(domain, `"${(await domainProofs(env, on.id, domain))[0]}"`);
  return domain;
}

async function versionOf(on: TestSite): Promise<number> {
  const [row] = await createDb(siteStore).select().from(mailSenders).where(eq(mailSenders.siteId, on.id));
  return row?.version ?? 0;
}

describe("setting the sender", () => {
  test("requires a TXT record, and succeeds once the domain has it", async () => {
    const domain = newDomain();
    const rejected = await putSender(senderOf(domain));
    expect(rejected).toMatchObject({ status: 400, fields: ["domain"] });
    expect(rejected.problem?.message).toContain("operator");
    publishTxt(domain, '"v=spf1 -all"', `"${expectedTxt(rejected)}"`);
    const response = await putSender(senderOf(domain));
    expect(response.as(Sender)).toMatchObject(senderOf(domain));
    expect(response.log.d1.roundTrips).toBe(2);
    const { results } = (await site.call("listEvents")).as(EventList);
    expect(results.at(-1)).toMatchObject({ type: "customemail.senderUpdated", data: senderOf(domain) });
  });

  test("requires the same record for the same site and domain each time, and a different one for others", async () => {
    const other = await newSite();
    const domain = newDomain();
    const [first, again, foreign, elsewhere] = [
      await putSender(senderOf(domain)),
      await putSender(senderOf(domain)),
      await putSender(senderOf(domain), other),
      await putSender(senderOf(newDomain())),
    ].map(expectedTxt);
    expect(first).toMatch(/^tifo-verification=/);
    expect(again).toBe(first);
    expect(new Set([first, foreign, elsewhere]).size).toBe(3);
  });

  test("rejects another site's record and one with extra characters", async () => {
    const other = await newSite();
    const domain = newDomain();
    const [foreign] = await domainProofs(env, other.id, domain);
    const [own] = await domainProofs(env, site.id, domain);
    publishTxt(domain, `"${foreign}"`, `"${own} "`, `"x${own}"`);
    expect(await putSender(senderOf(domain))).toMatchObject({ status: 400, fields: ["domain"] });
    expect((await putSender(senderOf(domain), other)).status).toBe(200);
  });

  test("accepts a record in several strings or without quotes", async () => {
    for (const form of [(value: string) => `"${value.slice(0, 20)}" "${value.slice(20)}"`, (value: string) => value]) {
      const domain = newDomain();
      publishTxt(domain, form((await domainProofs(env, site.id, domain))[0]));
      expect((await putSender(senderOf(domain))).status).toBe(200);
    }
  });

  test("accepts the record of the deployment's previous secret", async () => {
    const domain = newDomain();
    const [before] = await domainProofs({ TIFO_SECRET: "the secret before" }, site.id, domain);
    expect(await domainProofs({ TIFO_SECRET: "a new one,the secret before" }, site.id, domain)).toContain(before);
  });

  test("is a 400 if the domain's own servers fail, and a 503 if the resolver is unreachable", async () => {
    expect(await putSender(senderOf(`broken.${newDomain()}`))).toMatchObject({ status: 400, fields: ["domain"] });
    for (const failure of ["unreachable", "garbled"]) {
      const domain = `${failure}.${newDomain()}`;
      const response = await putSender(senderOf(domain));
      expect(response.problem).toMatchObject({ status: 503, code: "unavailable" });
      // The error still contains the record to add.
      expect([expectedTxt(response), response.fields]).toEqual([(await domainProofs(env, site.id, domain))[0], ["domain"]]);
    }
  });

  test("accepts only addresses of the domain or its subdomains, regardless of case", async () => {
    const domain = await newVerifiedDomain();
    for (const fromEmail of [`tickets@mail.${domain}`, `Tickets@${domain.toUpperCase()}`]) {
      expect((await putSender({ ...senderOf(domain), domain: domain.toUpperCase(), fromEmail })).status).toBe(200);
    }
    for (const fromEmail of [`tickets@not${domain}`, "tickets@elsewhere.example", `tickets@${domain}.elsewhere.example`]) {
      expect(await putSender({ ...senderOf(domain), fromEmail }), fromEmail).toMatchObject({ status: 400, fields: ["fromEmail"] });
    }
  });

  test.for([
    ["domain", "localhost"],
    ["domain", "https://club.example"],
    ["domain", "10.0.0.8"],
    ["domain", "-club.example"],
    ["domain", "club.example/"],
    ["fromEmail", "tickets"],
    ["replyToEmail", "help@"],
    ["fromName", "Club\r\nBcc: all@club.example"],
  ])("rejects %s %j", async ([field = "", value]) => {
    expect(await putSender({ ...senderOf("club.example"), [field]: value })).toMatchObject({ status: 400, fields: [field] });
  });

  test("replaces the previous sender of that site only", async () => {
    const other = await newSite();
    const domain = await newVerifiedDomain(other);
    const first = (await putSender(senderOf(domain), other)).as(Sender);
    const second = await other.call("putSenderEmail", {
      body: { ...senderOf(domain), fromName: "Old Dock" },
      headers: { "If-Match": '"v1"' },
    });
    expect(second.as(Sender)).toMatchObject({ fromName: "Old Dock", created: first.created });
    expect(second.headers.get("ETag")).toBe('"v2"');
    const stale = await other.call("putSenderEmail", { body: senderOf(domain), headers: { "If-Match": '"v1"' } });
    expect(stale.status).toBe(412);
    const rows = await createDb(siteStore).select().from(mailSenders).where(eq(mailSenders.siteId, other.id));
    expect(rows).toMatchObject([{ fromName: "Old Dock", version: 2 }]);
  });

  test("succeeds for one of two concurrent requests with the same version", async () => {
    const other = await newSite();
    const domain = await newVerifiedDomain(other);
    await putSender(senderOf(domain), other);
    const headers = { "If-Match": '"v1"' };
    const rivals = ["A", "B"].map((fromName) => other.call("putSenderEmail", { body: { ...senderOf(domain), fromName }, headers }));
    const statuses = (await Promise.all(rivals)).map(({ status }) => status);
    expect(statuses.filter((status) => status === 200)).toHaveLength(1);
    expect(statuses.filter((status) => status === 409 || status === 412)).toHaveLength(1);
    expect(await versionOf(other)).toBe(2);
  });

  test("applies two concurrent first requests one after the other, or rejects one with 409", async () => {
    const other = await newSite();
    const domain = await newVerifiedDomain(other);
    const responses = await Promise.all([putSender(senderOf(domain), other), putSender(senderOf(domain), other)]);
    const won = responses.filter(({ status }) => status === 200).length;
    expect(responses.every(({ status }) => status === 200 || status === 409)).toBe(true);
    expect(await versionOf(other)).toBe(won);
  });
});

describe("the receipt template", () => {
  const put = (body: Record<string, unknown>, on = site): Promise<ApiResponse> => on.call("putReceiptTemplate", { body });

  test("can be set, replaced and reset to the default", async () => {
    const own = { subject: "Receipt {{receiptNumber}}", template: "<b>{{total}}</b>" };
    expect((await put(own)).as(ReceiptTemplate)).toEqual(own);
    const other = { subject: "Thank you", template: "{{#each items}}{{description}}{{/each}}" };
    const replaced = await put(other);
    expect(replaced.as(ReceiptTemplate)).toEqual(other);
    expect(replaced.log.d1.roundTrips).toBe(2);
    const reset = await site.call("resetReceiptTemplate");
    expect(reset.as(ReceiptTemplate)).toEqual(DEFAULT_RECEIPT);
    expect(await createDb(siteStore).select().from(receiptTemplates).where(eq(receiptTemplates.siteId, site.id))).toEqual([]);
    expect((await site.call("resetReceiptTemplate")).as(ReceiptTemplate)).toEqual(DEFAULT_RECEIPT);
    const { results } = (await site.call("listEvents", { query: { types: "customemail.receiptUpdated,customemail.receiptReset" } })).as(
      EventList,
    );
    expect(results.map(({ type }) => type)).toEqual([
      "customemail.receiptUpdated",
      "customemail.receiptUpdated",
      "customemail.receiptReset",
    ]);
  });

  test.for([
    ["template", "<p>\n {{#if total}}", "Line 2, column 15: A block is not closed"],
    ["template", "{{lookup a b}}", 'Line 1, column 1: There is no helper "lookup"'],
    ["subject", "{{total", "Line 1, column 1: This tag is not closed"],
    ["template", `${"{{#each @root.items}}".repeat(16)}x${"{{/each}}".repeat(16)}`, "Rendering the template takes more than 50000 steps"],
    ["template", `{{a ${"(a ".repeat(10_000)}${")".repeat(10_000)}}}`, "Line 1, column 1: A tag has at most 300 characters"],
  ])("is rejected if its %s can't be rendered", async ([field = "", text = "", message]) => {
    const body = { subject: "Receipt", template: "{{total}}", [field]: text };
    const response = await put(body);
    expect(response.problem?.issues).toEqual([{ path: field, message }]);
    expect(await createDb(siteStore).select().from(receiptTemplates).where(eq(receiptTemplates.siteId, site.id))).toEqual([]);
  });

  test("of another site is unaffected", async () => {
    const other = await newSite();
    await put({ subject: "Theirs", template: "{{total}}" }, other);
    await put({ subject: "Ours", template: "{{total}}" });
    await site.call("resetReceiptTemplate");
    const [row] = await createDb(siteStore).select().from(receiptTemplates).where(eq(receiptTemplates.siteId, other.id));
    expect(row?.subject).toBe("Theirs");
  });
});
