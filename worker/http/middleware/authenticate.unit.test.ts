import { describe, expect, test } from "vitest";
import type { AccountRole } from "#db/types.ts";
import { newPolicy, runSteps } from "#test/middleware-app.ts";
import { CLIENT, DEVELOPER } from "#worker/http/credentials.ts";
import type { Actor, Ctx } from "#worker/services/core/context.ts";
import type { Accounts } from "#worker/http/operation-policy.ts";
import { Failure } from "#worker/lib/errors.ts";
import { authenticate, requireAccess } from "./authenticate.ts";

const SITE = "5eed0000000000000000a001";
const ADMIN: AccountRole = { scope: "*", pageId: [], write: true };

/** The `ctx` of a request to an operation that declares this. */
async function contextOf(spec: Parameters<typeof newPolicy>[0], headers: Record<string, string>) {
  let ctx: Ctx | undefined;
  const outcome = await runSteps([authenticate(newPolicy(spec))], {
    bare: true,
    headers,
    handler: (c) => {
      ctx = c.get("ctx");
      return c.text("done");
    },
  });
  return { ...outcome, ctx };
}

describe("authentication", () => {
  test("names the site and the operation in the context without asking D1", async () => {
    const { ctx, log } = await contextOf({ access: { credentials: CLIENT } }, { "Tifo-Client-Id": SITE });
    expect(ctx).toMatchObject({ siteId: SITE, origin: "PUT /things/v1/{id}", ifMatch: undefined });
    expect(log).toEqual(["run the handler"]);
  });

  test("is a 401 without the credentials that the operation needs", async () => {
    const { code, log } = await contextOf({ access: { credentials: DEVELOPER } }, { "Tifo-Client-Id": SITE });
    expect({ code, log }).toEqual({ code: "unauthenticated", log: [] });
  });

  test("is the declared 404 for a client id that can't exist", async () => {
    const access = { credentials: CLIENT, errors: { unknownSite: "No such site" } };
    expect(await contextOf({ access }, { "Tifo-Client-Id": "nobody" })).toMatchObject({ code: "not_found" });
    expect(await contextOf({ access: { credentials: CLIENT } }, { "Tifo-Client-Id": "nobody" })).toMatchObject({ code: "unauthenticated" });
  });

  test("reads the versions of If-Match where the operation writes", async () => {
    const headers = { "If-Match": '"v3", "v4-abc", "other"' };
    expect((await contextOf({}, headers)).ctx?.ifMatch).toEqual([3, 4, 0]);
    expect((await contextOf({}, { "If-Match": "*" })).ctx?.ifMatch).toBeUndefined();
    expect((await contextOf({ method: "get" }, headers)).ctx?.ifMatch).toBeUndefined();
  });
});

/** The code that a caller's access is rejected with. */
function rejection(actor: Actor, access: Parameters<typeof newPolicy>[0] = {}): string | undefined {
  try {
    requireAccess(actor, newPolicy(access).access);
    return undefined;
  } catch (error) {
    return error instanceof Failure ? error.code : String(error);
  }
}

describe("access", () => {
  const account: Extract<Actor, { kind: "account" }> = { roles: [], kind: "account", id: "1", sessionId: "2", tags: [] };
  const credentials = CLIENT;

  test("is granted to a developer key whose roles cover the area and the action", () => {
    expect(rejection({ kind: "developer", id: "1", roles: ["things:write"] })).toBeUndefined();
    expect(rejection({ kind: "developer", id: "1", roles: ["things:read"] })).toBe("forbidden");
    expect(rejection({ kind: "developer", id: "1", roles: ["other:write"] })).toBe("forbidden");
  });

  test("is granted to accounts as declared", () => {
    const viewer = { ...account, roles: [] };
    const admin = { ...account, roles: [ADMIN] };
    expect(rejection(viewer)).toBe("forbidden");
    expect(rejection(admin)).toBeUndefined();
    expect(rejection(viewer, { access: { credentials, accounts: "any" } })).toBeUndefined();
    expect(rejection(admin, { access: { credentials, accounts: "global" } })).toBe("forbidden");
  });

  test("is granted to admins and moderators of channels only where the operation is for them, and for no more than they may do", () => {
    const of = (scope: AccountRole["scope"], write: boolean, pageId: string[]) => ({ ...account, roles: [{ scope, pageId, write }] });
    const callers = {
      viewer: account,
      creator: of("*", true, ["c"]),
      readingCreator: of("*", false, ["c"]),
      chat: of("Chat_Moderator", true, []),
      chatOfChannel: of("Chat_Moderator", true, ["c"]),
      readingChat: of("Chat_Moderator", false, []),
      questions: of("Question_Answer_Moderator", true, ["c"]),
    };
    const granted = (accounts: Accounts, method: "get" | "put") =>
      Object.entries(callers).flatMap(([name, caller]) =>
        rejection(caller, { method, access: { credentials, accounts } }) === undefined ? [name] : [],
      );
    const moderators = ["chat", "chatOfChannel"];
    expect(granted("admin", "get")).toEqual([]);
    expect(granted("creator", "put")).toEqual(["creator"]);
    expect(granted("creator", "get")).toEqual(["creator", "readingCreator"]);
    expect(granted("chatModerator", "put")).toEqual(["creator", ...moderators]);
    expect(granted("chatModerator", "get")).toEqual(["creator", "readingCreator", ...moderators, "readingChat"]);
    expect(granted("questionModerator", "put")).toEqual(["creator", "questions"]);
    expect(granted("questionModerator", "get")).toEqual(["creator", "readingCreator", "questions"]);
  });

  test("is granted to a global sign-in only where it is declared", () => {
    const global = { kind: "global", id: "1", sessionId: "2" } as const;
    expect(rejection(global)).toBe("forbidden");
    expect(rejection(global, { access: { credentials, accounts: "signedIn" } })).toBeUndefined();
  });

  test("is rejected with the declared error in place of the 403", () => {
    const errors = { globalAccount: "site_login_required", missingRole: "channel_admin_required" } as const;
    expect(rejection({ kind: "global", id: "1", sessionId: "2" }, { access: { credentials, errors } })).toBe("site_login_required");
    expect(rejection({ ...account, roles: [] }, { access: { credentials, errors } })).toBe("channel_admin_required");
  });
});
