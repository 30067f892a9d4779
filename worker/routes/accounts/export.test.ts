import { eq } from "drizzle-orm";
import { beforeAll, describe, expect, test } from "vitest";
import { createDb } from "#db/client.ts";
import { accounts } from "#db/schema/accounts.ts";
import { chatBans } from "#db/schema/engagement/chat.ts";
import { charges } from "#db/schema/commerce/billing.ts";
import { devices } from "#db/schema/devices.ts";
import { questions } from "#db/schema/engagement/questions.ts";
import { newId } from "#worker/lib/ids.ts";
import { allOf, ctxOf } from "#test/callers.ts";
import { exportAccount } from "#worker/services/accounts/export.ts";
import { AccountExport } from "#worker/services/accounts/export-schemas.ts";
import { Leaderboard } from "#worker/services/leaderboards/schemas.ts";
import { ChatMessage } from "#worker/services/chat/schemas.ts";
import { newSite, type TestSite } from "#test/harness.ts";
import { siteStore } from "#test/site-store.ts";

let site: TestSite;
const db = createDb(siteStore);

beforeAll(async () => {
  site = await newSite();
});

const now = Date.now();
const stamps = { created: now, modified: now };

async function exportOf(accountId: string, as: "viewer" | "admin" | "developer" = "viewer") {
  const response = await site.call("exportAccount", { as, params: { id: accountId } });
  return { text: response.text, ...response.as(AccountExport) };
}

describe("The export of an account", () => {
  test("contains what each area stores about the person, and nothing of others", async () => {
    const { viewer, creator } = site.accounts;
    const [channelId] = site.channels;
    const row = { siteId: site.id, accountId: viewer.id };
    await db.insert(devices).values({ ...row, id: newId(now), deviceId: "phone-1", description: "Phone", created: now });
    await db.insert(charges).values({
      ...{
        ...row,
        ...stamps,
        id: newId(now),
        amount: 900,
        currency: "eur",
        itemType: "subscription",
        itemId: newId(now),
        status: "complete",
      },
      ...{ description: "Season pass", skus: ["season-pass"], recurrence: null, stripeAccount: null, stripePaymentId: "pi_secret" },
    });
    const question = { ...stamps, siteId: site.id, channelId, original: null, state: "submitted" as const, upvotes: 1 };
    await db.insert(questions).values([
      { ...question, id: newId(now), accountId: viewer.id, text: "Who scores?" },
      { ...question, id: newId(now), accountId: creator.id, text: "Not mine" },
    ]);
    const sent = await site.call("sendChatMessage", { as: "viewer", params: { channelId }, body: { text: "What a save!" } });
    const { _id } = sent.as(ChatMessage);
    await site.call("reactToChatMessage", { as: "viewer", params: { channelId, id: _id }, body: { emoji: "👍" } });
    await site.call("sendChatMessage", { as: "creator", params: { channelId }, body: { text: "Not mine either" } });
    const { data, text } = await exportOf(viewer.id);
    expect(data).toMatchObject({
      account: [{ _id: viewer.id, email: viewer.email }],
      profile: [{ name: "viewer" }],
      devices: [{ deviceId: "phone-1" }],
      charges: [{ amount: 900, description: "Season pass" }],
      questions: [{ text: "Who scores?" }],
      chatMessages: [{ _id, channelId, text: "What a save!" }],
      chatResponses: [{ channelId, messageId: _id, emoji: "👍" }],
      claims: [],
    });
    for (const secret of ["Not mine", "pi_secret", "password"]) expect(text).not.toContain(secret);
  });

  test("pages through more rows than fit into memory at a time, each once", async () => {
    const rows = Array.from({ length: 1_203 }, (_, minute) => ({ minute, target: newId(now) }));
    const insert = siteStore.prepare(
      "INSERT INTO viewer_activity SELECT ?1, ?2, 'watch', json_extract(value, '$.target'), ?3, json_extract(value, '$.minute'), 1, 1, 1 FROM json_each(?4)",
    );
    await insert.bind(site.id, site.accounts.creator.id, site.channels[0], JSON.stringify(rows)).run();
    const { data } = await exportOf(site.accounts.creator.id, "admin");
    expect(new Set(data["activity"]?.map(({ targetId }) => targetId)).size).toBe(rows.length);
  });

  test("is for the account itself, admins, and keys that may read every area", async () => {
    const { viewer, reader } = site.accounts;
    expect((await site.call("exportAccount", { as: "viewer", params: { id: reader.id } })).status).toBe(403);
    expect((await site.call("exportAccount", { as: "creator", params: { id: viewer.id } })).status).toBe(403);
    expect((await site.call("exportAccount", { as: "reader", params: { id: viewer.id } })).status).toBe(200);
    expect((await site.call("exportAccount", { as: "developer", params: { id: viewer.id } })).status).toBe(200);
    const headers = { "Tifo-Client-Id": site.id, "Tifo-Developer-Key": await site.addKey(["account:write", "chat:read"]) };
    const limited = await site.call("exportAccount", { as: "nobody", headers, params: { id: viewer.id } });
    expect([limited.status, limited.problem?.message]).toEqual([403, expect.stringContaining("billing:read")]);
    const other = await newSite();
    expect((await other.call("exportAccount", { as: "developer", params: { id: viewer.id } })).status).toBe(404);
  });

  test("contains the person's rank and each of its awards, page by page", async () => {
    const board = (await site.call("createLeaderboard", { body: { name: "Season", period: "all" } })).as(Leaderboard);
    const { reader, viewer } = site.accounts;
    const params = { id: board._id };
    for (let call = 0; call < 3; call++) {
      const awards = Array.from({ length: 400 }, (_, n) => ({
        accountId: reader.id,
        points: 1,
        reason: `Goal ${n}`,
        awardId: `a-${call}-${n}`,
      }));
      await site.call("awardPoints", { params, body: { awards } });
    }
    await site.call("awardPoints", { params, body: { accountId: viewer.id, points: 7, reason: "Not mine" } });
    const { data, text } = await exportOf(reader.id, "admin");
    expect(data["leaderboards"]).toMatchObject([{ leaderboardId: board._id, rank: 1, points: 1_200 }]);
    expect(new Set(data["awards"]?.map(({ cause }) => cause)).size).toBe(1_200);
    expect(data["awards"]?.[0]).toMatchObject({ leaderboardId: board._id, points: 1, rule: null, reason: "Goal 0" });
    expect(text).not.toContain("Not mine");
  });

  test("ends when the caller loses the permission", async () => {
    const { admin, viewer } = site.accounts;
    const leaving = await site.addAccount("leaving", admin.roles);
    const pieces = await exportAccount(ctxOf(site.id, leaving), viewer.id);
    await pieces.next();
    await pieces.next();
    await db.update(accounts).set({ roles: [] }).where(eq(accounts.id, leaving.id));
    await expect(allOf(pieces)).rejects.toThrow("permission");
  });

  test("tells the person of bans but not of mutes, nor who set them", async () => {
    const { viewer, admin } = site.accounts;
    const ban = { ...stamps, siteId: site.id, accountId: viewer.id, channelId: "", until: null, createdBy: admin.id };
    await db.insert(chatBans).values([
      { ...ban, id: newId(now), kind: "ban", reason: "Spam" },
      { ...ban, id: newId(now), kind: "mute", reason: "Noise" },
    ]);
    const own = await exportOf(viewer.id);
    expect(own.data["chatBans"]).toMatchObject([{ kind: "ban", reason: "Spam" }]);
    expect(own.text).not.toContain(admin.id);
    expect((await exportOf(viewer.id, "admin")).data["chatBans"]).toHaveLength(2);
  });
});
