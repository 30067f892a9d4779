import { env } from "cloudflare:workers";
import { z } from "@hono/zod-openapi";
import { solve, solves } from "#test/proofs.ts";
import { beforeEach, describe, expect, test, vi } from "vitest";
import { type ApiResponse, encodeBody, fillPath, newSite, ORIGIN, send, siteIds } from "#test/harness.ts";
import { exhaustLimit, resetLimit } from "#test/limit-usage.ts";
import { operationOf } from "#test/openapi.ts";
import { uploadForm } from "#test/uploads.ts";
import { Api } from "#worker/app.ts";
import { newId } from "#worker/lib/ids.ts";
import { LIMITS, sandboxQuota } from "#worker/lib/limits.ts";
import { GLOBAL_AUDIENCE } from "#worker/services/auth/tokens.ts";
import { sendMail } from "#worker/services/custom-email/mail.ts";
import { LimitList } from "#worker/services/insights/schemas.ts";
import { ClaimedSandbox, Sandbox, SandboxChallenge, SandboxState } from "#worker/services/sandboxes/schemas.ts";

type Sandbox = z.output<typeof Sandbox>;
type Headers = Record<string, string>;

const OWNER = { email: "owner@club.example", password: "a long password", name: "Olga Owner" };

const INVITATION = { senderName: "Ada Admin", link: "https://demo.example/i/aB3dE6" };

// The tests have one address.
beforeEach(async () => {
  for (const name of ["createSandbox", "claimSandbox"] as const) await resetLimit(GLOBAL_AUDIENCE, name, "local");
});

function call(operationId: string, headers: Headers = {}, body?: unknown, params: Record<string, string> = {}): Promise<ApiResponse> {
  const operation = operationOf(operationId);
  const encoded = encodeBody(body);
  const init = { method: operation.method.toUpperCase(), headers: { ...encoded.headers, ...headers }, body: encoded.body };
  return send(operation, new URL(fillPath(operation, params), ORIGIN), init);
}

async function newSandbox(): Promise<Sandbox> {
  const response = await call("createSandbox");
  expect(response.status).toBe(201);
  const sandbox = response.as(Sandbox);
  siteIds.push(sandbox.site._id);
  return sandbox;
}

function keyOf({ site, developerKey }: Sandbox): Headers {
  return { "Tifo-Client-Id": site._id, "Tifo-Developer-Key": developerKey };
}

async function statusOfLogin(siteId: string, email: string, password: string): Promise<number> {
  return (await call("login", {}, { siteId, email, password })).status;
}

describe("a sandbox", () => {
  test("is a site with a key, two accounts and content that can be used at once", async () => {
    const sandbox = await newSandbox();
    const key = keyOf(sandbox);
    expect((await call("getPage", key, undefined, { id: sandbox.channel._id })).status).toBe(200);
    expect((await call("getPoll", key, undefined, { pollId: sandbox.pollId, id: sandbox.pollId })).status).toBe(200);
    const broadcast = { channelIds: [sandbox.channel._id], variables: { scorer: "Ruth Okafor", minute: 71 } };
    expect((await call("broadcastOverlay", key, { ...broadcast }, { id: sandbox.overlayId })).status).toBe(200);
    for (const { email } of [sandbox.admin, sandbox.viewer])
      expect(await statusOfLogin(sandbox.site._id, email, sandbox.password)).toBe(200);
    expect(sandbox.expires - sandbox.site.created).toBe(72 * 3_600_000);
    expect((await call("getSandbox", key)).as(SandboxState)).toEqual({ siteId: sandbox.site._id, expires: sandbox.expires, mails: [] });
  });

  test("is isolated from other sandboxes and sites", async () => {
    const [one, other, site] = [await newSandbox(), await newSandbox(), await newSite()];
    expect((await call("getOverlay", keyOf(one), undefined, { id: other.overlayId })).status).toBe(404);
    expect((await call("getSandbox", { ...keyOf(one), "Tifo-Client-Id": other.site._id })).status).toBe(401);
    expect((await call("getSandbox", { ...keyOf(one), "Tifo-Client-Id": site.id })).status).toBe(401);
    expect((await call("getPage", keyOf(one), undefined, { id: site.channels[0] })).status).toBe(404);
  });

  test("has a tenth of a site's limits, but as many wrong passwords as on any site", async () => {
    const { limits } = (await call("getLimits", keyOf(await newSandbox()))).as(LimitList);
    expect(limits.find(({ name }) => name === "broadcast")).toMatchObject({ limit: LIMITS.broadcast.quota / 10 });
    expect(limits.find(({ name }) => name === "signIn")).toMatchObject({ limit: LIMITS.signIn.quota });
    expect(limits.find(({ name }) => name === "changeSandbox")).toMatchObject({ limit: sandboxQuota("changeSandbox") });
  });

  test("takes only so many changes, and strangers use up none of them", async () => {
    const sandbox = await newSandbox();
    await exhaustLimit(sandbox.site._id, "changeSandbox", "");
    const change = (headers: Headers) => call("settlePoll", headers, {}, { id: sandbox.pollId, pollId: sandbox.pollId });
    expect((await change(keyOf(sandbox))).problem?.code).toBe("rate_limited");
    expect((await change({ ...keyOf(sandbox), "Tifo-Developer-Key": "tifo_dev_wrong" })).status).toBe(401);
    expect((await call("getSandbox", keyOf(sandbox))).status).toBe(200);
  });

  test("takes only so many files, without the limit on anything else", async () => {
    const sandbox = await newSandbox();
    expect((await call("uploadMedia", keyOf(sandbox), uploadForm())).status).toBe(201);
    await exhaustLimit(sandbox.site._id, "uploadToSandbox", "");
    expect((await call("uploadMedia", keyOf(sandbox), uploadForm())).problem?.code).toBe("rate_limited");
    const { status } = await call("settlePoll", keyOf(sandbox), {}, { id: sandbox.pollId, pollId: sandbox.pollId });
    expect(status).not.toBe(429);
  });

  test("can't do what costs the operator more than a request", async () => {
    const key = keyOf(await newSandbox());
    expect((await call("exportSite", key)).status).toBe(403);
  });

  test("has no backups and isn't moved, also by the operator", async () => {
    const { site } = await newSandbox();
    const operator = { "Tifo-Super-Key": env.TIFO_SUPER_KEY };
    const answers = [
      await call("createBackup", operator, undefined, { siteId: site._id }),
      await call("moveSite", operator, { shard: 2 }, { siteId: site._id }),
    ];
    expect(answers.map(({ status, problem }) => [status, problem?.message])).toEqual([
      [409, "A sandbox has no backups"],
      [409, "A sandbox can't be moved"],
    ]);
  });

  test("can't have cues read from playlists", async () => {
    const key = keyOf(await newSandbox());
    const cues = [{ src: "https://live.example/main.m3u8", dataProviderId: newId(Date.now()) }];
    const manifest = { hosts: ["live.example"], cues };
    const { problem } = await call("updateSite", key, { name: "Sandbox", settings: { manifest } });
    expect(problem?.code).toBe("forbidden");
    expect(problem?.message).toContain("claim it first");
    expect((await call("updateSite", key, { name: "Sandbox", settings: { manifest: { ...manifest, cues: [] } } })).status).toBe(200);
  });

  test("calls at most five programmatic webhooks", async () => {
    const key = keyOf(await newSandbox());
    const body = { webhookUrl: "https://receiver.example/hook", service: "wallet-service-v1" };
    const responses = await Promise.all(Array.from({ length: 7 }, () => call("createProgrammaticWebhook", key, body)));
    expect(responses.map(({ status }) => status).sort()).toEqual([201, 201, 201, 201, 201, 409, 409]);
    const { problem } = await call("createProgrammaticWebhook", key, body);
    expect(problem?.message).toBe("A sandbox has at most 5 programmatic webhooks; delete one first");
  });

  test("sends no email, and shows the latest 50", async () => {
    const sandbox = await newSandbox();
    const siteId = sandbox.site._id;
    const to = (index: number) => `fan-${index}@club.example`;
    for (let index = 0; index < 51; index++)
      await sendMail(env, siteId, { template: "registerInvite", to: to(index), data: INVITATION }, newId(Date.now()));
    const { mails } = (await call("getSandbox", keyOf(sandbox))).as(SandboxState);
    expect(mails.map((mail) => mail.to)).toEqual(Array.from({ length: 50 }, (_, index) => to(50 - index)));
  });
});

describe("a claimed sandbox", () => {
  test("is a site that is kept, whose only admin is its owner", async () => {
    const sandbox = await newSandbox();
    const { site, claimToken } = sandbox;
    const { admin } = (await call("claimSandbox", {}, { ...OWNER, claimToken })).as(ClaimedSandbox);
    expect(admin.roles).toEqual([{ scope: "*", pageId: [], write: true }]);
    expect(await statusOfLogin(site._id, OWNER.email, OWNER.password)).toBe(200);
    expect(await statusOfLogin(site._id, sandbox.admin.email, sandbox.password)).toBe(401);
    expect((await call("getSandbox", keyOf(sandbox))).as(SandboxState)).toMatchObject({ expires: null });
    expect((await call("claimSandbox", {}, { ...OWNER, claimToken })).status).toBe(404);
    expect((await call("discardSandbox", {}, { claimToken })).status).toBe(404);
  });

  test("can't be claimed with another's token, or with an address that is taken", async () => {
    const { claimToken, viewer } = await newSandbox();
    expect((await call("claimSandbox", {}, { ...OWNER, claimToken: "tifo_claim_wrong" })).status).toBe(404);
    expect((await call("claimSandbox", {}, { ...OWNER, claimToken, email: viewer.email })).status).toBe(409);
    expect((await call("claimSandbox", {}, { ...OWNER, claimToken })).status).toBe(200);
  });
});

describe("a discarded sandbox", () => {
  test("rejects its key, its accounts and its client id at once", async () => {
    const sandbox = await newSandbox();
    const login = await call("login", {}, { siteId: sandbox.site._id, email: sandbox.viewer.email, password: sandbox.password });
    const { jwt } = login.as(z.looseObject({ jwt: z.string() }));
    expect((await call("discardSandbox", {}, { claimToken: sandbox.claimToken })).status).toBe(204);
    expect((await call("getSandbox", keyOf(sandbox))).status).toBe(401);
    expect((await call("getSite", { "Tifo-Client-Id": sandbox.site._id })).status).toBe(401);
    const bearer = { "Tifo-Client-Id": sandbox.site._id, Authorization: `Bearer ${jwt}` };
    expect((await call("getOwnUserProfile", bearer)).status).toBe(401);
  });
});

describe("creating sandboxes", () => {
  test("is limited per address, of which an IPv6 network has one", async () => {
    const from = (address: string) => call("createSandbox", { "CF-Connecting-IP": address });
    await exhaustLimit(GLOBAL_AUDIENCE, "createSandbox", "2001:db8:1:2::/64");
    expect((await from("2001:db8:1:2::5")).problem?.code).toBe("rate_limited");
    expect((await from("2001:db8:1:2:ffff::1")).problem?.code).toBe("rate_limited");
    const elsewhere = await from("2001:db8:1:3::5");
    siteIds.push(elsewhere.as(Sandbox).site._id);
  });

  test("is limited for the whole deployment", async () => {
    await exhaustLimit(GLOBAL_AUDIENCE, "createSandboxes", "");
    expect((await call("createSandbox")).problem?.code).toBe("rate_limited");
    await resetLimit(GLOBAL_AUDIENCE, "createSandboxes", "");
  });

  describe("takes a proof of work, which", () => {
    const context = { waitUntil: () => undefined, passThroughOnException: () => undefined, props: {} };
    const EASY = { TIFO_SANDBOX_WORK: "6" };

    async function fetchWith(vars: Partial<Env>, path: string, body?: unknown): Promise<Response> {
      const init =
        body === undefined ? {} : { method: "POST", headers: { "Content-Type": "application/json" }, body: JSON.stringify(body) };
      return new Api().fetch(new Request(ORIGIN + path, init), { ...env, ...vars }, context);
    }

    async function challenge(vars: Partial<Env> = EASY): Promise<z.output<typeof SandboxChallenge>> {
      return SandboxChallenge.parse(await (await fetchWith(vars, "/site/v1/sandbox/challenge")).json());
    }

    async function create(body: unknown, vars: Partial<Env> = EASY): Promise<number> {
      const response = await fetchWith(vars, "/site/v1/sandbox", body);
      if (response.status === 201) siteIds.push(Sandbox.parse(await response.json()).site._id);
      return response.status;
    }

    test("the solution of a challenge is, once", async () => {
      const proof = solve(await challenge());
      expect(await create(proof)).toBe(201);
      expect(await create(proof)).toBe(400);
      // Another solution of the same challenge.
      expect(await create(solve({ ...proof, bits: 6 }, Number(proof.solution) + 1))).toBe(400);
    });

    test("isn't needed where the operator has set no bits, which the challenge says", async () => {
      const { bits } = SandboxChallenge.parse((await call("getSandboxChallenge")).body);
      expect(bits).toBe(0);
      expect((await newSandbox()).site.slug).toMatch(/^sandbox-/);
    });

    test("no request without one passes", async () => {
      const { challenge: issued, bits } = await challenge();
      const wrong = Array.from({ length: 1000 }, (_, index) => String(index)).find((solution) => !solves(issued, solution, bits)) ?? "";
      expect(await create({})).toBe(400);
      expect(await create({ challenge: issued, solution: wrong })).toBe(400);
      const none = new Request(`${ORIGIN}/site/v1/sandbox`, { method: "POST" });
      expect((await new Api().fetch(none, { ...env, ...EASY }, context)).status).toBe(400);
    });

    test("a challenge that was altered, made up, easier or issued for another deployment isn't", async () => {
      const { challenge: issued } = await challenge();
      const [content = "", signature = ""] = issued.split(".");
      const easier = `${content.replace(/^6/, "1")}.${signature}`;
      const later = `${content.replace(/~\d+~/, (expires) => `~${Number(expires.slice(1, -1)) + 1}~`)}.${signature}`;
      for (const altered of [easier, later, content, `.${signature}`, "made up"])
        expect.soft(await create(solve({ challenge: altered, bits: 6 })), altered).toBe(400);
      expect(await create(solve(await challenge({ TIFO_SANDBOX_WORK: "2" })))).toBe(400);
      expect(await create(solve(await challenge({ ...EASY, TIFO_SECRET: "the secret of another deployment" })))).toBe(400);
    });

    test("can't be collected for later than ten minutes", async () => {
      const { challenge: issued, bits, expires } = await challenge();
      expect(expires).toBeGreaterThan(Date.now() + 9 * 60_000);
      vi.setSystemTime(expires);
      expect(await create(solve({ challenge: issued, bits }))).toBe(400);
      vi.useRealTimers();
    });
  });

  test("is a 404 where the operator hasn't turned it on", async () => {
    const context = { waitUntil: () => undefined, passThroughOnException: () => undefined, props: {} };
    for (const TIFO_SANDBOXES of ["0", "", "many"]) {
      const request = new Request(`${ORIGIN}/site/v1/sandbox`, { method: "POST" });
      expect((await new Api().fetch(request, { ...env, TIFO_SANDBOXES }, context)).status).toBe(404);
    }
  });
});
