import fc from "fast-check";
import { eq } from "drizzle-orm";
import { beforeAll, expect, test } from "vitest";
import { createDb } from "#db/client.ts";
import { accounts } from "#db/schema/accounts.ts";
import { apiKeys } from "#db/schema/sites.ts";
import type { AccountRole } from "#db/types.ts";
import { type CallOptions, newSite, type TestAccount, type TestSite } from "#test/harness.ts";
import { sha256 } from "#worker/lib/crypto/crypto.ts";
import { newId } from "#worker/lib/ids.ts";
import { siteStore } from "#test/site-store.ts";

const db = createDb(siteStore);

let site: TestSite;
let account: TestAccount;
let token: string;
let key: string;

beforeAll(async () => {
  site = await newSite();
  account = await site.addAccount("anyone", []);
  token = await site.signIn(account);
  key = await site.addKey([]);
});

/** Operations and what they require; once authorized, each one fails for a reason other than access. */
const ATTEMPTS: { operationId: string; area: string; action: "read" | "write"; reach: "site" | 0 | 1; options: () => CallOptions }[] = [
  { operationId: "listAccounts", area: "account", action: "read", reach: "site", options: () => ({}) },
  { operationId: "createPage", area: "page", action: "write", reach: "site", options: () => ({ body: {} }) },
  { operationId: "updateSite", area: "site", action: "write", reach: "site", options: () => ({ body: {} }) },
  { operationId: "broadcastOverlayToTag", area: "overlay", action: "write", reach: 0, options: () => tagged(0) },
  { operationId: "broadcastOverlayToTag", area: "overlay", action: "write", reach: 1, options: () => tagged(1) },
];

let overlayId: string | undefined;

function tagged(channel: 0 | 1): CallOptions {
  return { params: { id: overlayId ?? newId(1), tagId: "team:home" }, body: { channelId: site.channels[channel] } };
}

/** The rule: the account manages the site or the channel in question, and may write if it is a change. */
function mayAccount(roles: AccountRole[], { action, reach }: (typeof ATTEMPTS)[number]): boolean {
  for (const { scope, pageId, write } of roles) {
    if (scope !== "*") continue;
    if (action === "write" && !write) continue;
    if (pageId.length === 0) return true;
    if (reach !== "site" && pageId.includes(site.channels[reach])) return true;
  }
  return false;
}

function mayKey(roles: string[], { area, action }: (typeof ATTEMPTS)[number]): boolean {
  return ["*", `${area}:write`, ...(action === "read" ? [`${area}:read`] : [])].some((role) => roles.includes(role));
}

const attempt = fc.constantFrom(...ATTEMPTS);
const channels = fc.subarray([0, 1] as const);
const roleOf = fc.record({
  scope: fc.constantFrom("*" as const, "Chat_Moderator" as const, "Question_Answer_Moderator" as const),
  channels,
  write: fc.boolean(),
});
const keyRole = fc.constantFrom(
  "*",
  "account:read",
  "account:write",
  "page:read",
  "page:write",
  "site:write",
  "overlay:read",
  "overlay:write",
  "pag:write",
  "",
);

test("an account is authorized exactly as its roles allow", async () => {
  const overlay = {
    name: "x",
    description: "",
    siteId: site.id,
    type: "template",
    duration: 1,
    contents: [{ kind: "html", html: "x", position: "center" }],
  };
  const created = await site.call("createOverlay", { body: overlay });
  overlayId = /"_id":"([0-9a-f]{24})"/.exec(created.text)?.[1];
  await fc.assert(
    fc.asyncProperty(fc.array(roleOf, { maxLength: 3 }), attempt, async (drawn, attempted) => {
      const roles = drawn.map(({ scope, write, channels: on }) => ({ scope, write, pageId: on.map((index) => site.channels[index]) }));
      await db.update(accounts).set({ roles }).where(eq(accounts.id, account.id));
      const headers = { Authorization: `Bearer ${token}` };
      const { status } = await site.call(attempted.operationId, { ...attempted.options(), as: "client", headers });
      expect(status !== 403).toBe(mayAccount(roles, attempted));
    }),
    { numRuns: 60 },
  );
});

test("a developer key is authorized exactly as its roles allow", async () => {
  const hash = await sha256(key);
  await fc.assert(
    fc.asyncProperty(fc.array(keyRole, { maxLength: 3 }), attempt, async (roles, attempted) => {
      await db.update(apiKeys).set({ roles }).where(eq(apiKeys.hash, hash));
      const { status } = await site.call(attempted.operationId, {
        ...attempted.options(),
        as: "client",
        headers: { "Tifo-Developer-Key": key },
      });
      expect(status !== 403).toBe(mayKey(roles, attempted));
    }),
    { numRuns: 60 },
  );
});
