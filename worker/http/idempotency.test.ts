import { eq } from "drizzle-orm";
import { beforeAll, describe, expect, test } from "vitest";
import { createDb } from "#db/client.ts";
import { idempotencyKeys } from "#db/schema/events.ts";
import { apiKeys } from "#db/schema/sites.ts";
import { type ApiResponse, type CallOptions, newSite, PASSWORD, type TestSite } from "#test/harness.ts";
import { sha256 } from "#worker/lib/crypto/crypto.ts";
import { randomHex } from "#worker/lib/ids.ts";
import { Overlay } from "#worker/services/overlays/schemas.ts";
import { siteStore } from "#test/site-store.ts";

const db = createDb(siteStore);

let site: TestSite;

beforeAll(async () => {
  site = await newSite();
});

const newKey = (): string => `goal-${randomHex(6)}`;

function input(change: Record<string, unknown> = {}): Record<string, unknown> {
  const contents = [{ kind: "html", html: "Goal", position: "center" }];
  return { name: "Goal", description: "", siteId: site.id, type: "template", duration: 8, contents, ...change };
}

function create(key: string, options: CallOptions = {}): Promise<ApiResponse> {
  return site.call("createOverlay", { body: input(), ...options, headers: { "Idempotency-Key": key, ...options.headers } });
}

async function countOverlays(): Promise<unknown> {
  return (await site.call("listOverlays")).body;
}

/** Changes the stored row of a key that the site's developer key used. */
async function change(key: string, to: Partial<typeof idempotencyKeys.$inferInsert>): Promise<void> {
  const [caller] = await db
    .select({ id: apiKeys.id })
    .from(apiKeys)
    .where(eq(apiKeys.hash, await sha256(site.developerKey)));
  const id = await sha256([site.id, `developer:${caller?.id}`, "createOverlay", key].join("\n"));
  expect(await db.update(idempotencyKeys).set(to).where(eq(idempotencyKeys.id, id)).returning()).toHaveLength(1);
}

describe("a repeated Idempotency-Key", () => {
  test("returns the first response and changes nothing", async () => {
    const key = newKey();
    const first = await create(key);
    expect(first.headers.get("Idempotent-Replayed")).toBeNull();
    const before = await countOverlays();
    const again = await create(key);
    expect([again.status, again.body]).toEqual([201, first.body]);
    expect(again.headers.get("Idempotent-Replayed")).toBe("true");
    expect(again.headers.get("ETag")).toBe(first.headers.get("ETag"));
    expect(await countOverlays()).toEqual(before);
  });

  test("conflicts with a different body", async () => {
    const key = newKey();
    await create(key);
    expect((await create(key, { body: input({ name: "Card" }) })).problem).toMatchObject({ status: 409, code: "idempotency_mismatch" });
  });

  test("runs only one of several concurrent requests", async () => {
    const key = newKey();
    const responses = await Promise.all([create(key), create(key), create(key)]);
    // Between its commit and storing its response, the first request has taken effect but its response isn't available yet.
    for (const response of responses)
      if (response.status !== 201) expect(["idempotency_in_flight", "idempotency_unanswered"]).toContain(response.problem?.code);
    const created = responses.filter((response) => response.status === 201).map((response) => response.as(Overlay)._id);
    expect(created.length).toBeGreaterThan(0);
    expect(new Set(created).size).toBe(1);
  });

  test("is separate for each device or address without credentials", async () => {
    const key = newKey();
    const signUp = (headers: Record<string, string>) => {
      const body = { email: `${randomHex(5)}@viewers.example`, password: PASSWORD, name: "Vera" };
      return site.call("createAccount", { as: "client", body, headers: { "Idempotency-Key": key, ...headers } });
    };
    const callers: Record<string, string>[] = [
      { "CF-Connecting-IP": "192.0.2.1" },
      { "CF-Connecting-IP": "192.0.2.2" },
      { "Tifo-Device-Id": "phone" },
    ];
    for (const caller of callers) expect((await signUp(caller)).status).toBe(201);
    expect((await signUp({ "CF-Connecting-IP": "192.0.2.3", "Tifo-Device-Id": "phone" })).problem?.code).toBe("idempotency_mismatch");
  });

  test("is separate for each caller, site and operation", async () => {
    const key = newKey();
    const first = await create(key);
    const other = await create(key, { as: "client", headers: { "Tifo-Developer-Key": await site.addKey(["*"]) } });
    expect(other.status).toBe(201);
    expect(other.as(Overlay)._id).not.toBe(first.as(Overlay)._id);
    const foreign = await newSite();
    expect((await foreign.call("createOverlay", { body: input({ siteId: foreign.id }), headers: { "Idempotency-Key": key } })).status).toBe(
      201,
    );
    const params = { id: first.as(Overlay)._id };
    const updated = await site.call("updateOverlay", { params, body: input(), headers: { "Idempotency-Key": key } });
    expect([updated.status, updated.headers.get("Idempotent-Replayed")]).toEqual([200, null]);
  });

  test("can be reused after a request with invalid input", async () => {
    const key = newKey();
    expect((await create(key, { body: input({ duration: 0 }) })).status).toBe(400);
    expect((await create(key)).status).toBe(201);
  });

  test("returns a 404 again", async () => {
    const headers = { "Idempotency-Key": newKey() };
    const call = { params: { id: "5eed0000000000000000ffff" }, body: input(), headers };
    expect((await site.call("updateOverlay", call)).status).toBe(404);
    const again = await site.call("updateOverlay", call);
    expect([again.status, again.headers.get("Idempotent-Replayed")]).toEqual([404, "true"]);
  });

  test("reports that a request took effect if it crashed after its commit, and runs nothing twice", async () => {
    const key = newKey();
    await create(key);
    await change(key, { state: "committed", status: null, headers: null, body: null });
    const before = await countOverlays();
    expect((await create(key)).problem).toMatchObject({ status: 409, code: "idempotency_unanswered" });
    expect(await countOverlays()).toEqual(before);
  });

  test("conflicts while the first request is running, and runs again if that crashed before its commit", async () => {
    const key = newKey();
    const first = await create(key);
    await change(key, { state: "running", status: null, headers: null, body: null, lease: Date.now() + 60_000 });
    expect((await create(key)).problem).toMatchObject({ status: 409, code: "idempotency_in_flight" });
    await change(key, { lease: Date.now() - 1 });
    const again = await create(key);
    expect(again.status).toBe(201);
    expect(again.as(Overlay)._id).not.toBe(first.as(Overlay)._id);
  });

  test("expires after a day", async () => {
    const key = newKey();
    const first = await create(key);
    await change(key, { expires: Date.now() - 1 });
    const again = await create(key, { body: input({ name: "Card" }) });
    expect(again.status).toBe(201);
    expect(again.as(Overlay)._id).not.toBe(first.as(Overlay)._id);
  });

  test("is rejected if the response has a secret, which is stored nowhere", async () => {
    const headers = { "Idempotency-Key": newKey() };
    const body = {
      name: "Old Dock",
      slug: `dock-${randomHex(5)}`,
      admin: { email: `${randomHex(5)}@dock.example`, password: PASSWORD, name: "Rex" },
    };
    const first = await site.call("createSite", { body, headers });
    expect(first.status).toBe(201);
    expect((await site.call("createSite", { body, headers })).problem).toMatchObject({ status: 409, code: "idempotency_unanswered" });
    const kept = JSON.stringify(await db.select().from(idempotencyKeys));
    expect(kept).not.toContain("tifo_dev_");
    expect(kept).not.toContain(PASSWORD);
  });

  test("is rejected if it is malformed", async () => {
    for (const key of ["two words", "é", "k".repeat(256)]) {
      expect(await create(key)).toMatchObject({ status: 400, fields: ["Idempotency-Key"] });
    }
  });
});
