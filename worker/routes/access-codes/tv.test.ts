import { env } from "cloudflare:workers";
import { eq } from "drizzle-orm";
import { beforeAll, describe, expect, onTestFinished, test } from "vitest";
import { createDb } from "#db/client.ts";
import { sessions } from "#db/schema/accounts.ts";
import { tvCodes } from "#db/schema/commerce/access-codes.ts";
import { exhaustLimit, resetLimit } from "#test/limit-usage.ts";
import { type ApiResponse, newSite, type TestAccount, type TestSite } from "#test/harness.ts";
import { sha256 } from "#worker/lib/crypto/crypto.ts";
import { newId, randomHex } from "#worker/lib/ids.ts";
import { LIMITS } from "#worker/lib/limits.ts";
import { activateTvCode, createTvCode, pruneTvCodes } from "#worker/services/access-codes/tv-codes.ts";
import type { Ctx } from "#worker/services/core/context.ts";
import { Account } from "#worker/services/accounts/schemas.ts";
import { TvCode, TvStatus } from "#worker/services/access-codes/schemas.ts";
import { siteStore } from "#test/site-store.ts";

const db = createDb(siteStore);
const MINUTE = 60_000;

let site: TestSite;

beforeAll(async () => {
  site = await newSite();
});

interface Device {
  id: string;
  code: string;
  expiresAt: number;
}

async function newDevice(): Promise<Device> {
  const id = `tv-${randomHex(6)}`;
  const { code, expiresAt } = (await site.call("createTvCode", { as: "client", body: { deviceId: id } })).as(TvCode);
  return { id, code, expiresAt };
}

function poll({ id, code }: Pick<Device, "id" | "code">): Promise<ApiResponse> {
  return site.call("pollTvCode", { as: "client", params: { code }, headers: { "Tifo-Device-Id": id } });
}

function activate(code: string, as: "viewer" | "admin" = "viewer"): Promise<ApiResponse> {
  return site.call("activateTvCode", { as, body: { code } });
}

/** Changes the row of a device's code, to simulate that time has passed. */
async function setRow({ code }: Device, change: Partial<typeof tvCodes.$inferInsert>): Promise<void> {
  await db
    .update(tvCodes)
    .set(change)
    .where(eq(tvCodes.hash, await sha256(`${site.id}\n${code}`)));
}

/** Makes the next poll due. */
function wait(device: Device): Promise<void> {
  return setRow(device, { polledAt: Date.now() - MINUTE });
}

describe("a TV code", () => {
  test("has 8 unambiguous characters, a lifetime of ten minutes and a poll interval", async () => {
    const before = Date.now();
    const response = await site.call("createTvCode", { as: "client", body: { deviceId: "living-room" } });
    expect(response.status).toBe(201);
    const { code, expiresAt, interval } = response.as(TvCode);
    expect(code).toMatch(/^[2-9A-HJKMNP-TV-Z]{8}$/);
    expect(expiresAt - before).toBeGreaterThanOrEqual(10 * MINUTE);
    expect(expiresAt - Date.now()).toBeLessThanOrEqual(10 * MINUTE);
    expect(interval).toBe(5);
  });

  test("is stored only as a hash", async () => {
    const { code, id } = await newDevice();
    const rows = JSON.stringify(await db.select().from(tvCodes));
    expect(rows).not.toContain(code);
    expect(rows).not.toContain(id);
  });

  test.for([newId(1), "nonsense"])("can't be created on the unknown site %s", async (siteId) => {
    const { status, problem } = await site.call("createTvCode", {
      as: "nobody",
      body: { deviceId: "tv" },
      headers: { "Tifo-Client-Id": siteId },
    });
    expect(status).toBe(404);
    expect(problem?.message).toBe("Site does not exist!");
  });

  test("requires a client id", async () => {
    expect((await site.call("createTvCode", { as: "nobody", body: { deviceId: "tv" } })).status).toBe(401);
  });
});

describe("activating a TV code", () => {
  test("accepts lower case, spaces and hyphens", async () => {
    const { code } = await newDevice();
    const response = await activate(` ${code.slice(0, 4).toLowerCase()}-${code.slice(4)} `);
    expect(response.status).toBe(200);
    expect(response.body).toEqual({ success: true });
  });

  test("returns 204 for a code that is unknown, already activated or expired", async () => {
    const device = await newDevice();
    await activate(device.code);
    expect((await activate(device.code)).status).toBe(204);
    expect((await activate("22222222")).status).toBe(204);
    const late = await newDevice();
    await setRow(late, { expires: Date.now() - 1 });
    const { status, text } = await activate(late.code);
    expect([status, text]).toEqual([204, ""]);
  });

  test("doesn't find a code of another site", async () => {
    const { code } = await newDevice();
    const other = await newSite();
    expect((await other.call("activateTvCode", { as: "viewer", body: { code } })).status).toBe(204);
  });

  test("succeeds for one of two concurrent viewers, and the device signs in as that one", async () => {
    const device = await newDevice();
    const responses = await Promise.all([activate(device.code, "viewer"), activate(device.code, "admin")]);
    expect(responses.map(({ status }) => status).sort()).toEqual([200, 204]);
    const winner = site.accounts[responses[0]?.status === 200 ? "viewer" : "admin"];
    const tokens = (await poll(device)).as(TvStatus);
    const jwt = tokens.status === "activated" ? tokens.jwt : "";
    const me = await site.call("getAccount", { as: "client", params: { id: winner.id }, headers: { Authorization: `Bearer ${jwt}` } });
    expect(me.as(Account).email).toBe(winner.email);
  });

  test("can't be used to guess codes: after too many unknown ones, the account is rate limited", async () => {
    const guesser = await site.addAccount("guesser", []);
    const headers = { Authorization: `Bearer ${await site.signIn(guesser)}` };
    const { code } = await newDevice();
    const guess = (typed: string) => site.call("activateTvCode", { as: "client", headers, body: { code: typed } });
    for (let i = 0; i < LIMITS.redeem.quota; i++) expect((await guess("33333333")).status).toBe(204);
    expect((await guess(code)).problem?.code).toBe("rate_limited");
    expect((await activate(code)).status).toBe(200);
  });
});

describe("guessing TV codes", () => {
  const guess = async (account: TestAccount, code: string, address: string): Promise<ApiResponse> => {
    const headers = { Authorization: `Bearer ${await site.signIn(account)}`, "CF-Connecting-IP": address };
    return site.call("activateTvCode", { as: "client", headers, body: { code } });
  };

  test("is limited per address, regardless of the number of accounts", async () => {
    const accounts = await Promise.all([1, 2, 3, 4].map((n) => site.addAccount(`many-${n}-${randomHex(4)}`, [])));
    const [spare] = accounts;
    if (!spare) throw new Error("No account");
    await exhaustLimit(site.id, "miss", "198.51.100.20");
    for (const account of accounts) expect((await guess(account, "55555555", "198.51.100.20")).status).toBe(429);
    const { code } = await newDevice();
    expect((await guess(spare, code, "198.51.100.21")).status).toBe(200);
  });

  test("is limited, once the site's limit is reached, only for accounts that have guessed wrong", async () => {
    const [guesser, owner] = [await site.addAccount(`g-${randomHex(4)}`, []), await site.addAccount(`o-${randomHex(4)}`, [])];
    expect((await guess(guesser, "66666666", "198.51.100.30")).status).toBe(204);
    await exhaustLimit(site.id, "guessTvCode", "");
    onTestFinished(() => resetLimit(site.id, "guessTvCode", ""));
    const { code } = await newDevice();
    expect((await guess(guesser, code, "198.51.100.31")).problem?.code).toBe("rate_limited");
    expect((await guess(owner, code, "198.51.100.32")).status).toBe(200);
  });
});

describe("a device that polls", () => {
  test("gets `pending`, then its tokens exactly once, and they work and can be refreshed", async () => {
    const device = await newDevice();
    expect((await poll(device)).body).toEqual({ status: "pending" });
    await activate(device.code);
    await wait(device);
    const tokens = (await poll(device)).as(TvStatus);
    if (tokens.status !== "activated") throw new Error(tokens.status);
    const { viewer } = site.accounts;
    const headers = { Authorization: `Bearer ${tokens.jwt}` };
    expect((await site.call("getAccount", { as: "client", params: { id: viewer.id }, headers })).status).toBe(200);
    const refreshed = await site.call("refreshTokens", { as: "client", body: { refreshToken: tokens.refreshToken } });
    expect(refreshed.status).toBe(200);
    await wait(device);
    expect((await poll(device)).body).toEqual({ status: "expired" });
  });

  test("gets one pair of tokens from several concurrent polls", async () => {
    const device = await newDevice();
    const someone = await site.addAccount(`racer-${randomHex(4)}`, []);
    const headers = { Authorization: `Bearer ${await site.signIn(someone)}` };
    await site.call("activateTvCode", { as: "client", headers, body: { code: device.code } });
    const before = await db.select().from(sessions).where(eq(sessions.accountId, someone.id));
    const responses = await Promise.all(Array.from({ length: 5 }, () => poll(device)));
    expect(responses.filter((response) => response.status === 200 && response.as(TvStatus).status === "activated")).toHaveLength(1);
    const after = await db.select().from(sessions).where(eq(sessions.accountId, someone.id));
    expect(after.length - before.length).toBe(1);
  });

  test("gets slow_down when it polls before its interval is over", async () => {
    const device = await newDevice();
    await setRow(device, { polledAt: Date.now() + MINUTE });
    const { status, problem, headers } = await poll(device);
    expect([status, problem?.code]).toEqual([429, "slow_down"]);
    expect(headers.get("Retry-After")).toBe("5");
  });

  test("gets `expired` once its code has expired, whether or not it was activated", async () => {
    const [idle, active] = [await newDevice(), await newDevice()];
    await activate(active.code);
    for (const device of [idle, active]) {
      await setRow(device, { expires: Date.now() - 1 });
      expect((await poll(device)).body).toEqual({ status: "expired" });
    }
  });

  test("gets no tokens if the account's password has changed since activation", async () => {
    const device = await newDevice();
    const owner = await site.addAccount(`owner-${randomHex(4)}`, []);
    const headers = { Authorization: `Bearer ${await site.signIn(owner)}` };
    await site.call("activateTvCode", { as: "client", headers, body: { code: device.code } });
    await site.call("upsertAccount", { body: { email: owner.email, name: "Owner", password: "a-new-password" } });
    expect((await poll(device)).body).toEqual({ status: "expired" });
    expect(await db.select().from(sessions).where(eq(sessions.accountId, owner.id))).toHaveLength(1);
  });

  test("must be the one that created the code", async () => {
    const device = await newDevice();
    await activate(device.code);
    expect((await poll({ ...device, id: "another-tv" })).status).toBe(404);
    const other = await newSite();
    const elsewhere = { as: "client" as const, params: { code: device.code }, headers: { "Tifo-Device-Id": device.id } };
    expect((await other.call("pollTvCode", elsewhere)).status).toBe(404);
    expect((await poll(device)).as(TvStatus).status).toBe("activated");
  });

  test("must send its device id, and a valid client id first", async () => {
    const { code } = await newDevice();
    const wrong: Record<string, string>[] = [{}, { "Tifo-Device-Id": "" }, { "Tifo-Device-Id": "x".repeat(201) }];
    for (const headers of wrong) {
      const { status, problem } = await site.call("pollTvCode", { as: "client", params: { code }, headers });
      expect([status, problem?.issues?.[0]?.path]).toEqual([400, "Tifo-Device-Id"]);
    }
    expect((await site.call("pollTvCode", { as: "nobody", params: { code } })).status).toBe(401);
    const unknown = { "Tifo-Client-Id": newId(1) };
    expect((await site.call("pollTvCode", { as: "nobody", params: { code }, headers: unknown })).status).toBe(401);
  });

  test("can't guess codes: after too many unknown ones its address is rate limited, others aren't", async () => {
    const device = await newDevice();
    const guess = (id: string, code: string) => {
      const headers = { "Tifo-Device-Id": id, "CF-Connecting-IP": "198.51.100.7" };
      return site.call("pollTvCode", { as: "client", params: { code }, headers });
    };
    for (let i = 0; i < LIMITS.miss.quota; i++) expect((await guess(`device-${i}`, "44444444")).status).toBe(404);
    expect((await guess(device.id, device.code)).problem?.code).toBe("rate_limited");
    expect((await poll(device)).status).toBe(200);
  });
});

describe("a TV code when the database fails", () => {
  const broken: Ctx = {
    env,
    siteId: newId(1),
    // Every access throws.
    db: new Proxy(db, {
      get() {
        throw new Error("no database");
      },
    }),
    now: Date.now(),
    requestId: "test",
    caller: async () => ({ kind: "account", id: newId(2), sessionId: newId(3), roles: [], tags: [] }),
    ifMatch: undefined,
    deviceId: undefined,
    emitted: { siteIds: new Set(), completedEventIds: [] },
    defer: () => undefined,
  };

  test("returns an internal error that says what failed, without the cause", async () => {
    await expect(createTvCode(broken, "tv")).rejects.toMatchObject({ code: "internal", message: "Error generating TV code" });
    await expect(activateTvCode(broken, "22222222", "local")).rejects.toMatchObject({
      code: "internal",
      message: "Error activating TV code",
    });
  });
});

test("TV codes are pruned an hour after they expire", async () => {
  const [old, recent] = [await newDevice(), await newDevice()];
  await setRow(old, { expires: Date.now() - 61 * MINUTE });
  await setRow(recent, { expires: Date.now() - 59 * MINUTE });
  await pruneTvCodes({ db, now: Date.now() });
  expect((await poll(old)).status).toBe(404);
  expect((await poll(recent)).body).toEqual({ status: "expired" });
});
