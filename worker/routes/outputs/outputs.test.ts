import { exports } from "cloudflare:workers";
import { eq } from "drizzle-orm";
import { beforeAll, describe, expect, test } from "vitest";
import type { z } from "@hono/zod-openapi";
import { createDb } from "#db/client.ts";
import { outputs } from "#db/schema/streams/outputs.ts";
import { newSite, openSocket, ORIGIN, type TestSite } from "#test/harness.ts";
import type { TestViewer } from "#test/isolated/relay-viewer.ts";
import { CLOSE } from "#worker/durable-objects/relay/relay.protocol.ts";
import { newId } from "#worker/lib/ids.ts";
import { listOf } from "#worker/services/core/list-schemas.ts";
import { Output, OutputWithToken } from "#worker/services/outputs/schemas.ts";
import { BroadcastAnswer, Overlay } from "#worker/services/overlays/schemas.ts";
import { siteStore } from "#test/site-store.ts";

const db = createDb(siteStore);
const Outputs = listOf(Output);
let site: TestSite;
let channel: string;

beforeAll(async () => {
  site = await newSite();
  [channel] = site.channels;
});

type Created = z.output<typeof OutputWithToken>;

async function newOutput(channelId = channel, on = site): Promise<Created> {
  return (await on.call("createOutput", { params: { channelId }, body: { name: "Studio" } })).as(OutputWithToken);
}

async function connect(token: string, channelId = channel, on = site): Promise<TestViewer> {
  const viewer = await openSocket(on, channelId, { ticket: token });
  await viewer.first("welcome");
  return viewer;
}

async function ending(viewer: TestViewer): Promise<{ code: string; close: number }> {
  const [{ code }, closed] = await Promise.all([viewer.first("error"), viewer.closed]);
  return { code, close: closed.code };
}

const revoke = (id: string, channelId = channel) => site.call("revokeOutput", { params: { channelId, id } });
const openPage = (channelId: string, token: string) => site.call("openOutput", { params: { channelId }, query: { token } });
const UNAUTHENTICATED = { code: "unauthenticated", close: CLOSE.unauthenticated };

async function newOverlay(contents: unknown = [{ kind: "html", html: "Goal", position: "center" }]): Promise<string> {
  const body = { name: "Goal", description: "", siteId: site.id, type: "template", duration: 60, contents };
  return (await site.call("createOverlay", { body })).as(Overlay)._id;
}

describe("an output", () => {
  test("is created with a token that is shown once and stored as a hash", async () => {
    const created = await newOutput();
    expect(created.url).toBe(`${ORIGIN}/output/${channel}?token=${created.token}`);
    const [row] = await db.select().from(outputs).where(eq(outputs.id, created._id));
    expect(JSON.stringify(row)).not.toContain(created.token);
    const listed = await site.call("listOutputs", { params: { channelId: channel } });
    expect(listed.as(Outputs).results.find(({ _id }) => _id === created._id)).toMatchObject({ name: "Studio", channelId: channel });
    expect(listed.text).not.toContain(created.token);
  });

  test("is listed with its own channel only", async () => {
    const [, other] = site.channels;
    const created = await newOutput(other);
    const ids = async (channelId: string) =>
      (await site.call("listOutputs", { params: { channelId } })).as(Outputs).results.map(({ _id }) => _id);
    expect(await ids(channel)).not.toContain(created._id);
    expect(await ids(other)).toContain(created._id);
    expect((await revoke(created._id, channel)).status).toBe(404);
  });

  test("is created, listed and revoked by an admin of its channel, and by nobody else's", async () => {
    const [, other] = site.channels;
    const created = await site.call("createOutput", { as: "creator", params: { channelId: channel }, body: { name: "Own" } });
    const { _id, createdBy } = created.as(OutputWithToken);
    expect(createdBy).toBe(site.accounts.creator.id);
    const foreign = await newOutput(other);
    const attempts = [
      site.call("createOutput", { as: "creator", params: { channelId: other }, body: { name: "No" } }),
      site.call("listOutputs", { as: "creator", params: { channelId: other } }),
      site.call("revokeOutput", { as: "creator", params: { channelId: other, id: foreign._id } }),
      site.call("createOutput", { as: "viewer", params: { channelId: channel }, body: { name: "No" } }),
    ];
    for (const { status } of await Promise.all(attempts)) expect(status).toBe(403);
    expect((await site.call("revokeOutput", { as: "creator", params: { channelId: channel, id: _id } })).status).toBe(204);
  });

  test("can't expire in the past, and a channel has at most 100", async () => {
    const past = await site.call("createOutput", { params: { channelId: channel }, body: { name: "Old", expirationTime: 1 } });
    expect(past.fields).toEqual(["expirationTime"]);
    const full = await site.addChannel("full");
    const stamps = { siteId: site.id, channelId: full, created: 1, modified: 1, name: "One of many" };
    for (let from = 0; from < 100; from += 10) {
      const rows = Array.from({ length: 10 }, () => newId(Date.now()));
      await db.insert(outputs).values(rows.map((id) => ({ ...stamps, id, hash: id })));
    }
    expect((await site.call("createOutput", { params: { channelId: full }, body: { name: "Too many" } })).problem?.code).toBe("conflict");
  });
});

describe("the token of an output", () => {
  test("opens a connection as often as it likes, without being used up", async () => {
    const { token } = await newOutput();
    const [first, second] = [await connect(token), await connect(token)];
    expect([first.open, second.open]).toEqual([true, true]);
  });

  test("passes the channel's gate, without which an anonymous viewer is rejected", async () => {
    const gated = await site.addChannel("gated", { gate: { type: "login", skus: [] } });
    const { token } = await newOutput(gated);
    await connect(token, gated);
    expect(await ending(await openSocket(site, gated))).toEqual(UNAUTHENTICATED);
  });

  test("stays connected when its channel gets a gate", async () => {
    const own = await site.addChannel("gated-later");
    const { token } = await newOutput(own);
    const output = await connect(token, own);
    const anonymous = await openSocket(site, own);
    await anonymous.first("welcome");
    await site.call("updatePage", {
      params: { id: own },
      body: { slug: "gated-later", data: { name: "Gated", gate: { type: "login", skus: [] } } },
    });
    expect(await ending(anonymous)).toEqual(UNAUTHENTICATED);
    expect(output.open).toBe(true);
  });

  test("is rejected for another channel, on another site, when it has expired and when it is forged", async () => {
    const { token, _id } = await newOutput();
    const foreign = await newSite();
    const [, other] = site.channels;
    for (const [on, channelId, ticket] of [
      [site, other, token],
      [foreign, foreign.channels[0], token],
      [site, channel, `${token.slice(0, -4)}AAAA`],
    ] as const)
      expect(await ending(await openSocket(on, channelId, { ticket }))).toEqual(UNAUTHENTICATED);
    await db.update(outputs).set({ expires: 1 }).where(eq(outputs.id, _id));
    expect(await ending(await openSocket(site, channel, { ticket: token }))).toEqual(UNAUTHENTICATED);
    expect((await openPage(channel, token)).status).toBe(401);
  });

  test("isn't a credential of the API", async () => {
    const { token } = await newOutput();
    const attempts: Record<string, string>[] = [{ Authorization: `Bearer ${token}` }, { "Tifo-Developer-Key": token }];
    for (const headers of attempts)
      expect((await site.call("listOutputs", { as: "client", headers, params: { channelId: channel } })).status).toBe(401);
  });

  test.for([
    { type: "vote", pollId: newId(1), answerId: "a", id: "v" },
    { type: "chat.join" },
    { type: "chat.send", id: newId(1), text: "Hello" },
  ])("only reads: $type is an error", async (frame) => {
    const viewer = await connect((await newOutput()).token);
    viewer.send(JSON.stringify(frame));
    expect(await viewer.first("error")).toMatchObject({ code: "bad_frame" });
    expect(viewer.open).toBe(true);
  });

  test("receives what everybody sees, and nothing for tags or segments", async () => {
    const own = await site.addChannel("everybody");
    const viewer = await connect((await newOutput(own)).token, own);
    const id = await newOverlay();
    await site.call("broadcastOverlayToTag", { params: { id, tagId: "team:home" }, body: { channelId: own } });
    const shown = await site.call("broadcastOverlay", { params: { id }, body: { channelId: own } });
    const { broadcastId } = shown.as(BroadcastAnswer);
    expect((await viewer.first("overlay.show")).broadcastId).toBe(broadcastId);
  });

  test("reads the channel as Server-Sent Events too", async () => {
    const { token } = await newOutput();
    const url = new URL(`/realtime/v1/channels/${channel}/events`, ORIGIN);
    url.search = new URLSearchParams({ clientId: site.id, ticket: token }).toString();
    const response = await exports.default.fetch(url);
    const reader = response.body?.pipeThrough(new TextDecoderStream()).getReader();
    let text = "";
    while (!text.includes("welcome")) text += (await reader?.read())?.value ?? "";
    await reader?.cancel();
    expect(text).not.toContain("event: error");
  });
});

describe("revoking an output", () => {
  test("closes its connections and no other one, and rejects its token from then on", async () => {
    const [one, other] = [await newOutput(), await newOutput()];
    const revoked = [await connect(one.token), await connect(one.token)];
    const kept = await connect(other.token);
    const anonymous = await openSocket(site, channel);
    await anonymous.first("welcome");
    expect((await revoke(one._id)).status).toBe(204);
    expect(await Promise.all(revoked.map(ending))).toEqual([UNAUTHENTICATED, UNAUTHENTICATED]);
    expect(await ending(await openSocket(site, channel, { ticket: one.token }))).toEqual(UNAUTHENTICATED);
    expect((await openPage(channel, one.token)).problem?.code).toBe("unauthenticated");
    expect([kept.open, anonymous.open]).toEqual([true, true]);
    expect((await revoke(one._id)).status).toBe(404);
  });

  test("of another site is a 404", async () => {
    const foreign = await newSite();
    const { _id } = await newOutput(foreign.channels[0], foreign);
    expect((await revoke(_id)).status).toBe(404);
    expect((await revoke(_id, foreign.channels[0])).status).toBe(404);
  });

  test("is what deleting the channel does to all of its outputs", async () => {
    const own = await site.addChannel("short-lived");
    const { token, _id } = await newOutput(own);
    const viewer = await connect(token, own);
    expect((await site.call("deletePage", { params: { id: own } })).status).toBe(200);
    expect((await ending(viewer)).close).toBe(CLOSE.notFound);
    expect(await db.select().from(outputs).where(eq(outputs.id, _id))).toEqual([]);
  });
});

describe("the output page", () => {
  test("names its site and channel, and neither its token nor anything that leaks it", async () => {
    const { token } = await newOutput();
    const { status, headers, text } = await openPage(channel, token);
    expect(status).toBe(200);
    expect(headers.get("Content-Type")).toBe("text/html; charset=utf-8");
    expect(text).toContain(`data-site="${site.id}" data-channel="${channel}"`);
    expect(text).not.toContain(token);
    expect(text).not.toMatch(/<script(?![^>]* src="\/sdk\/)/);
    expect(headers.get("Referrer-Policy")).toBe("no-referrer");
    expect(headers.get("Cache-Control")).toBe("private, no-store");
    expect(headers.get("X-Robots-Tag")).toContain("noindex");
    const policy = headers.get("Content-Security-Policy") ?? "";
    expect(policy).toContain("default-src 'none'");
    expect(policy).toContain("frame-ancestors 'none'");
    expect(policy).not.toMatch(/script-src[^;]*unsafe-inline/);
  });

  test("is a 404 for any channel but the token's own, whichever site it belongs to", async () => {
    const { token } = await newOutput();
    const foreign = await newSite();
    for (const channelId of [site.channels[1], foreign.channels[0], newId(1)])
      expect((await openPage(channelId, token)).problem).toMatchObject({ status: 404, message: "Channel not found" });
  });

  test("is an empty page for a browser whose token isn't valid, which tries again", async () => {
    const url = `${ORIGIN}/output/${channel}?token=tifo_out_unknown`;
    const response = await exports.default.fetch(url, { headers: { Accept: "text/html,*/*" } });
    const html = await response.text();
    expect(response.status).toBe(401);
    expect(response.headers.get("Content-Type")).toContain("text/html");
    expect(response.headers.get("Referrer-Policy")).toBe("no-referrer");
    expect(html).toContain('http-equiv="refresh"');
    expect(html).toContain("<body></body>");
  });

  test("isn't logged with its token", async () => {
    const { token } = await newOutput();
    expect(JSON.stringify((await openPage(channel, token)).log)).not.toContain(token);
  });
});
