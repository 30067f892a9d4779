import { beforeAll, describe, expect, onTestFinished, test, vi } from "vitest";
import { z } from "@hono/zod-openapi";
import { type Caller, newSite, openSocket, type TestAccount, type TestSite } from "#test/harness.ts";
import { questionsOf, votersOf } from "#test/questions.ts";
import { committedEvents } from "#test/committed-events.ts";
import type { TestViewer } from "#test/isolated/relay-viewer.ts";
import { Relay } from "#worker/durable-objects/relay/relay.ts";
import { newId } from "#worker/lib/ids.ts";
import { BroadcastAnswer, Receipt } from "#worker/services/overlays/schemas.ts";
import { Question } from "#worker/services/qna/schemas.ts";

const NOTIFY_MS = 500;

let site: TestSite;

beforeAll(async () => {
  site = await newSite();
});

const { newFan, ask, decide, newQuestion, vote, find } = questionsOf(() => site);

async function enter(channelId = site.channels[0]): Promise<TestViewer> {
  const viewer = await openSocket(site, channelId);
  await viewer.first("welcome");
  return viewer;
}

/** What a viewer was sent about a question. */
const sent = (viewer: TestViewer, id: string) =>
  viewer.frames.flatMap((frame) => (frame.type === "question.updated" && frame.question._id === id ? [frame.question] : []));
const receives = (viewer: TestViewer, id: string, state: string) =>
  viewer.when((frame) => frame.type === "question.updated" && frame.question._id === id && frame.question.state === state);

describe("viewers of the channel", () => {
  test("receive a question once it is approved, when it is answered, and that it was withdrawn", async () => {
    const viewers = [await enter(), await enter()];
    const elsewhere = await enter(site.channels[1]);
    const { _id } = await newQuestion("submitted", "Why <b>red</b>?");
    await decide(_id, { state: "approved" });
    await Promise.all(viewers.map((viewer) => receives(viewer, _id, "approved")));
    await decide(_id, { state: "answered", answer: "Tradition." }, "admin");
    await Promise.all(viewers.map((viewer) => receives(viewer, _id, "answered")));
    await decide(_id, { state: "dismissed" });
    for (const viewer of viewers) {
      await receives(viewer, _id, "dismissed");
      const [approved, answered, withdrawn] = sent(viewer, _id);
      expect(approved).toMatchObject({ text: "Why <b>red</b>?", upvotes: 1, answer: null });
      expect(approved).not.toHaveProperty("upvoted");
      expect(answered).toMatchObject({ answer: "Tradition.", answeredBy: "admin" });
      expect(withdrawn).toEqual({ _id, channelId: site.channels[0], state: "dismissed" });
    }
    expect(sent(elsewhere, _id)).toEqual([]);
  });

  test("receive nothing about a question that never was public", async () => {
    const viewer = await enter();
    const hidden = await newQuestion("dismissed", "Hidden?");
    const shown = await newQuestion("approved", "Shown?");
    await receives(viewer, shown._id, "approved");
    expect(sent(viewer, hidden._id)).toEqual([]);
    expect(JSON.stringify(viewer.frames)).not.toContain("Hidden?");
  });

  test("who connect later receive no questions, which they read over REST", async () => {
    const first = await enter();
    const { _id } = await newQuestion("approved");
    await receives(first, _id, "approved");
    const later = await enter();
    await vote(_id, (await newFan()).headers);
    await later.when((frame) => frame.type === "question.updated" && frame.question._id === _id);
    expect(sent(later, _id)).toMatchObject([{ upvotes: 2 }]);
  });

  test("receive a merge, and what it does to the target and to earlier merges", async () => {
    const viewer = await enter();
    const [target, source, earlier] = [await newQuestion("approved"), await newQuestion("approved"), await newQuestion("approved")];
    await decide(earlier._id, { state: "merged", mergedInto: source._id });
    await decide(source._id, { state: "merged", mergedInto: target._id });
    await receives(viewer, source._id, "merged");
    await viewer.when(
      (frame) =>
        frame.type === "question.updated" &&
        "upvotes" in frame.question &&
        frame.question._id === target._id &&
        frame.question.upvotes === 3,
    );
    await viewer.when(
      (frame) =>
        frame.type === "question.updated" &&
        "mergedInto" in frame.question &&
        frame.question._id === earlier._id &&
        frame.question.mergedInto === target._id,
    );
  });

  test("are notified at most twice a second, at last of the exact number of upvotes", async () => {
    const viewer = await enter();
    const { _id } = await newQuestion("approved");
    await receives(viewer, _id, "approved");
    const fans = await Promise.all(Array.from({ length: 24 }, () => newFan()));
    const started = Date.now();
    for (const fan of fans) await vote(_id, fan.headers);
    await viewer.when((frame) => frame.type === "question.updated" && "upvotes" in frame.question && frame.question.upvotes === 25);
    expect(sent(viewer, _id).length).toBeLessThanOrEqual(3 + (Date.now() - started) / NOTIFY_MS);
  });

  test("receive a change also if their relay did not accept it at first", async () => {
    const viewer = await enter();
    const { _id } = await newQuestion();
    const deliver = vi.spyOn(Relay.prototype, "deliver").mockImplementationOnce(() => {
      throw new Error("relay down");
    });
    onTestFinished(() => deliver.mockRestore());
    await decide(_id, { state: "approved" });
    await receives(viewer, _id, "approved");
  });
});

describe("moderators", () => {
  async function enterAs(as: Caller, account?: TestAccount): Promise<TestViewer> {
    const [channelId] = site.channels;
    const headers: Record<string, string> = account ? { Authorization: `Bearer ${await site.signIn(account)}` } : {};
    const response = await site.call("createTicket", { as: account ? "client" : as, headers, body: { channelId } });
    const viewer = await openSocket(site, channelId, { ticket: response.as(z.object({ ticket: z.string() })).ticket });
    await viewer.first("welcome");
    return viewer;
  }
  const isHint = ({ type }: { type: string }) => type === "questions.changed";

  test("are told that a question waits, without its content; other viewers and moderators of other channels aren't", async () => {
    const scope = "Question_Answer_Moderator";
    const ours = await site.addAccount("ours", [{ scope, pageId: [site.channels[0]], write: true }]);
    const theirs = await site.addAccount("theirs", [{ scope, pageId: [site.channels[1]], write: true }]);
    const told = [await enterAs("admin"), await enterAs("client", ours)];
    const others = [await enter(), await enterAs("viewer"), await enterAs("client", theirs)];
    await newQuestion("submitted", "Only for moderators?");
    await Promise.all(told.map((viewer) => viewer.when(isHint)));
    for (const viewer of told) expect(JSON.stringify(viewer.frames)).not.toContain("Only for moderators?");
    const shown = await newQuestion("approved", "For everybody?");
    await Promise.all(others.map((viewer) => receives(viewer, shown._id, "approved")));
    expect(others.map((viewer) => viewer.frames.filter(isHint))).toEqual([[], [], []]);
  });

  test("aren't told any more once they have lost the role", async () => {
    const former = await site.addAccount("former", [{ scope: "Question_Answer_Moderator", pageId: [], write: true }]);
    const [viewer, admin] = [await enterAs("client", former), await enterAs("admin")];
    await site.call("setRoles", { params: { id: former.id }, body: { roles: [] } });
    await newQuestion("submitted", "Who is left?");
    await admin.when(isHint);
    const shown = await newQuestion("approved", "And now?");
    await receives(viewer, shown._id, "approved");
    expect(viewer.frames.filter(isHint)).toEqual([]);
  });
});

describe("showing a question on screen", () => {
  const show = (id: string, body: Record<string, unknown> = {}, as: "developer" | "creator" | "viewer" = "developer", headers = {}) =>
    site.call("broadcastQuestion", { as, params: { id }, body, headers });

  test("is a broadcast with its text escaped, its receipt and its own duration", async () => {
    const viewer = await enter();
    const { _id } = await newQuestion("approved", "Is <script>alert(1)</script> {{name}} fit?");
    const { broadcastId, broadcasts } = (await show(_id, { duration: 20, position: "topCenter" })).as(BroadcastAnswer);
    const overlay = await viewer.when((frame) => frame.type === "overlay.show" && frame.broadcastId === broadcastId);
    if (overlay.type !== "overlay.show") throw new Error("Not an overlay");
    expect(overlay).toMatchObject({ overlayId: _id, position: "topCenter", endsAt: overlay.startsAt + 20_000 });
    const [content] = overlay.contents;
    const html = content?.kind === "html" ? content.html : "";
    expect(html).toContain("Is &lt;script&gt;alert(1)&lt;/script&gt; {{name}} fit?");
    expect(html).not.toContain("<script");
    expect(broadcasts).toMatchObject([{ channelId: site.channels[0] }]);
    const receipt = (await site.call("getReceipt", { params: { broadcastId } })).as(Receipt);
    expect(receipt).toMatchObject({ broadcastId, channelId: site.channels[0] });
    expect(receipt.sent).toBeGreaterThanOrEqual(1);
  });

  test("shows the kit's template with its text as it is, if asked for", async () => {
    const viewer = await enter();
    const { _id } = await newQuestion("approved", "Is <b>{{name}}</b> fit?");
    const { broadcastId } = (await show(_id, { kind: "kit" })).as(BroadcastAnswer);
    const overlay = await viewer.when((frame) => frame.type === "overlay.show" && frame.broadcastId === broadcastId);
    const variables = { text: "Is <b>{{name}}</b> fit?", votes: 1 };
    expect(overlay).toMatchObject({ contents: [{ kind: "kit", template: "question", key: _id, variables, position: "bottomLeft" }] });
  });

  test.each(["submitted", "dismissed", "merged"] as const)("is a 409 for a question that is %s", async (state) => {
    const { _id } = await newQuestion(state);
    expect((await show(_id)).problem).toMatchObject({ status: 409, code: "conflict" });
  });

  test("is up to moderators", async () => {
    const { _id } = await newQuestion("approved");
    expect((await show(_id, {}, "viewer")).status).toBe(403);
    expect((await show(_id, {}, "creator")).status).toBe(200);
  });

  test("ends when the question is dismissed", async () => {
    const viewer = await enter();
    const { _id } = await newQuestion("approved");
    const { broadcastId } = (await show(_id, { duration: 3600 })).as(BroadcastAnswer);
    await viewer.when((frame) => frame.type === "overlay.show" && frame.broadcastId === broadcastId);
    await decide(_id, { state: "dismissed" });
    await viewer.when((frame) => frame.type === "overlay.clear" && frame.broadcastIds.includes(broadcastId));
  });
});

describe("deleting the account that asked", () => {
  test("removes its questions from screens, lists and the event log, and its upvotes from the counts", async () => {
    const viewer = await enter();
    const fan = await newFan();
    const { _id } = (await ask("Where do I live?", fan.headers)).as(Question);
    await decide(_id, { state: "approved" });
    const other = await newQuestion("approved");
    await vote(other._id, fan.headers);
    await receives(viewer, _id, "approved");
    const { broadcastId } = (await site.call("broadcastQuestion", { params: { id: _id }, body: { duration: 3600 } })).as(BroadcastAnswer);
    await site.call("deleteAccount", { params: { id: fan.id } });
    await receives(viewer, _id, "dismissed");
    await viewer.when((frame) => frame.type === "overlay.clear" && frame.broadcastIds.includes(broadcastId));
    await vi.waitUntil(async () => (await find(_id)) === undefined, { interval: 20 });
    expect(await find(other._id)).toMatchObject({ upvotes: 1 });
    expect(await votersOf(other._id)).toEqual([other.accountId]);
    expect(await votersOf(_id)).toEqual([]);
    await vi.waitUntil(async () => !JSON.stringify(await committedEvents([site.id])).includes("Where do I live?"), { interval: 50 });
  });

  test("keeps what a deleted moderator answered, without the name", async () => {
    const moderator = await site.addAccount(`mod-${newId(Date.now())}`, [{ scope: "Question_Answer_Moderator", pageId: [], write: true }]);
    const { _id } = await newQuestion();
    const headers = { Authorization: `Bearer ${await site.signIn(moderator)}` };
    expect((await decide(_id, { state: "answered", answer: "Soon." }, "viewer", headers)).as(Question).answeredBy).not.toBeNull();
    await site.call("deleteAccount", { params: { id: moderator.id } });
    expect(await find(_id)).toMatchObject({ answer: "Soon.", answeredBy: null });
  });
});

test("deleting a channel deletes its questions and their upvotes", async () => {
  const channelId = await site.addChannel(`gone-${newId(Date.now())}`);
  const { _id } = await newQuestion("approved", "Gone?", channelId);
  const removed = await site.call("deletePage", { params: { id: channelId } });
  expect(z.looseObject({ success: z.literal(true) }).parse(removed.body).success).toBe(true);
  expect(await votersOf(_id)).toEqual([]);
  expect((await decide(_id, { state: "dismissed" })).status).toBe(404);
});
