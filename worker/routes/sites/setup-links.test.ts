import { env } from "cloudflare:workers";
import { eq } from "drizzle-orm";
import { beforeAll, describe, expect, test } from "vitest";
import { createDb } from "#db/client.ts";
import { accounts } from "#db/schema/accounts.ts";
import { setupLinks } from "#db/schema/setup-links.ts";
import { type ApiResponse, newSite, ORIGIN, PASSWORD, siteIds, type TestSite } from "#test/harness.ts";
import { randomHex } from "#worker/lib/ids.ts";
import { sha256 } from "#worker/lib/crypto/crypto.ts";
import { NewSite, SetupLink } from "#worker/services/sites/setup-schemas.ts";

const db = createDb(env.DB);
const DAY_MS = 86_400_000;

let site: TestSite;

beforeAll(async () => {
  site = await newSite();
});

async function newLink(body: object = {}) {
  return (await site.call("createSetupLink", { body })).as(SetupLink);
}

function inputOf(setupToken: string, change: object = {}) {
  const admin = { email: `${randomHex(6)}@clubs.example`, password: PASSWORD, name: "Ada Admin" };
  return { setupToken, name: "New club", slug: `club-${randomHex(5)}`, admin, ...change };
}

async function setUp(body: object): Promise<ApiResponse> {
  const response = await site.call("setUpSite", { as: "nobody", body });
  if (response.status === 201) siteIds.push(response.as(NewSite).site._id);
  return response;
}

describe("a setup link", () => {
  test("creates a site whose admin can sign in, and gives access to nothing else", async () => {
    const { url, setupToken, expires } = await newLink();
    expect(url).toBe(`${ORIGIN}/studio/setup#${setupToken}`);
    expect(expires).toBeGreaterThan(Date.now() + 0.9 * DAY_MS);
    const input = inputOf(setupToken);
    const response = await setUp(input);
    const { site: created, admin } = response.as(NewSite);
    expect(admin).toMatchObject({ siteId: created._id, email: input.admin.email, roles: [{ scope: "*", pageId: [], write: true }] });
    const login = { email: input.admin.email, password: PASSWORD, siteId: created._id };
    expect((await site.call("login", { as: "nobody", body: login })).status).toBe(200);
    expect(response.text).not.toContain("tifo_dev_");
  });

  test("works once, also for concurrent requests", async () => {
    const { setupToken } = await newLink();
    const responses = await Promise.all([1, 2, 3].map(() => setUp(inputOf(setupToken))));
    expect(responses.map(({ status }) => status).sort()).toEqual([201, 404, 404]);
    expect((await setUp(inputOf(setupToken))).problem?.message).toBe("The setup link is invalid, expired or already used");
  });

  test("stays valid if the site can't be created, and nothing of it is", async () => {
    const { setupToken } = await newLink();
    const taken = inputOf(setupToken, { slug: site.slug });
    expect((await setUp(taken)).problem).toMatchObject({ status: 409, code: "conflict" });
    expect(await db.$count(accounts, eq(accounts.email, taken.admin.email))).toBe(0);
    expect(await setUp(inputOf(setupToken, { slug: "Not a slug" }))).toMatchObject({ status: 400, fields: ["slug"] });
    expect((await setUp(inputOf(setupToken))).status).toBe(201);
  });

  test("expires, and is replaced by the next one", async () => {
    const first = await newLink();
    const { setupToken } = await newLink();
    expect((await setUp(inputOf(first.setupToken))).status).toBe(404);
    await db.update(setupLinks).set({ expires: Date.now() - 1 });
    expect((await setUp(inputOf(setupToken))).status).toBe(404);
    expect(await db.$count(setupLinks)).toBe(1);
  });

  test("is stored as a hash only", async () => {
    const { setupToken } = await newLink();
    const [row] = await db.select().from(setupLinks);
    expect(row?.hash).toBe(await sha256(setupToken));
    expect(JSON.stringify(row)).not.toContain(setupToken.slice("tifo_setup_".length));
  });

  test("is created by the operator only, for a week at most", async () => {
    for (const as of ["developer", "admin", "client", "nobody"] as const)
      expect([401, 403]).toContain((await site.call("createSetupLink", { as, body: {} })).status);
    expect(await site.call("createSetupLink", { body: { lifetime: 7 * 86_400 + 1 } })).toMatchObject({ status: 400, fields: ["lifetime"] });
    const { expires } = await newLink({ lifetime: 60 });
    expect(expires).toBeLessThan(Date.now() + DAY_MS);
  });

  test("can't be guessed: a wrong token is rejected like a used one", async () => {
    await newLink();
    expect((await setUp(inputOf("tifo_setup_4Yb2"))).problem).toMatchObject({ status: 404, code: "not_found" });
  });
});
