import { env } from "cloudflare:workers";
import { beforeAll, describe, expect, test } from "vitest";
import { globalAccounts, sessions } from "#db/schema/accounts.ts";
import { newSite, type TestSite } from "#test/harness.ts";
import { listOf } from "#worker/services/core/list-schemas.ts";
import { newId } from "#worker/lib/ids.ts";
import { signToken } from "#worker/services/auth/tokens.ts";
import { Panel } from "#worker/services/panels/schemas.ts";
import { directory } from "#test/site-store.ts";

const PanelList = listOf(Panel);
const chat = { panel_type: "chat", panel_name: "Match chat" };

let site: TestSite;

beforeAll(async () => {
  site = await newSite();
});

const create = (renderer: Record<string, unknown>, on = site) => on.call("createPanel", { body: { siteId: on.id, renderer } });

async function newPanel() {
  return (await create(chat)).as(Panel);
}

describe("access to panels", () => {
  test("allows signed-in accounts to read, and only admins to write", async () => {
    const { _id } = await newPanel();
    const params = { id: _id };
    expect((await site.call("getPanel", { params, as: "viewer" })).status).toBe(200);
    for (const as of ["viewer", "creator", "reader"] as const) {
      expect((await site.call("deletePanel", { params, as })).status, as).toBe(403);
    }
  });

  test("shows the filtered words of a chat only to managers of the site", async () => {
    const own = await newSite();
    const { _id } = (await create({ ...chat, filtered_words: "offside ref" }, own)).as(Panel);
    const wordsFor = async (as: "admin" | "reader" | "creator" | "viewer") => {
      const [listed] = (await own.call("listPanels", { as })).as(PanelList).results;
      const read = await own.call("getPanel", { params: { id: _id }, as });
      expect(read.body).toEqual(listed);
      return { words: listed?.renderer.panel_type === "chat" ? listed.renderer.filtered_words : null, tag: read.headers.get("ETag") };
    };
    const tags = new Set<string | null>();
    for (const [words, ...callers] of [
      ["offside ref", "admin", "reader"],
      ["", "creator", "viewer"],
    ] as const) {
      const seen = await Promise.all(callers.map(wordsFor));
      expect(seen.map((response) => response.words)).toEqual(callers.map(() => words));
      for (const { tag } of seen) tags.add(tag);
    }
    // The complete and the public response need different ETags.
    expect(tags.size).toBe(2);
  });

  test("tells global sign-ins to use a site-specific login", async () => {
    const [accountId, sessionId, now] = [newId(Date.now()), newId(Date.now()), Date.now()];
    await directory
      .insert(globalAccounts)
      .values({ id: accountId, email: `${accountId}@global.example`, passwordHash: "", created: now, modified: now });
    await directory
      .insert(sessions)
      .values({ id: sessionId, audience: "global", accountId, generation: 1, created: now, expires: now + 3_600_000 });
    const token = await signToken(env, { accountId, audience: "global", sessionId, passwordVersion: 1 }, now);
    const headers = { Authorization: `Bearer ${token}`, "Tifo-Client-Id": site.id };
    const { _id } = await newPanel();
    for (const [operation, call] of [
      ["listPanels", {}],
      ["getPanel", { params: { id: _id } }],
      ["createPanel", { body: { siteId: site.id, renderer: chat } }],
      ["deletePanel", { params: { id: _id } }],
    ] as const) {
      const response = await site.call(operation, { ...call, as: "nobody", headers });
      expect(response.problem).toMatchObject({
        status: 400,
        code: "site_login_required",
        message: "Please use a site specific login to interact with restful services",
      });
    }
    expect((await site.call("getPanel", { params: { id: _id } })).status).toBe(200);
  });
});
