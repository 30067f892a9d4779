import { beforeAll, describe, expect, test } from "vitest";
import { newSite, openSocket, type TestSite } from "#test/harness.ts";
import { questionsOf, votersOf } from "#test/questions.ts";
import { newId } from "#worker/lib/ids.ts";
import { Question } from "#worker/services/qna/schemas.ts";

// What callers try who want more than they may.

let site: TestSite;
let other: TestSite;

beforeAll(async () => {
  [site, other] = [await newSite(), await newSite()];
});

const { newFan, ask, decide, newQuestion, vote, list, find } = questionsOf(() => site);

describe("a caller without an account", () => {
  test("can read, but neither ask, upvote nor moderate", async () => {
    const { _id } = await newQuestion("approved");
    expect((await list({}, "client")).results.length).toBeGreaterThan(0);
    const calls = [
      ["askQuestion", { channelId: site.channels[0] }, { text: "May I?" }],
      ["upvoteQuestion", { id: _id }, undefined],
      ["removeQuestionUpvote", { id: _id }, undefined],
      ["decideQuestion", { id: _id }, { state: "dismissed" }],
      ["broadcastQuestion", { id: _id }, {}],
    ] as const;
    for (const [operation, params, body] of calls)
      expect((await site.call(operation, { as: "client", params, body })).status, operation).toBe(401);
  });

  test("learns nothing about a waiting question, by search, filter, sort or cursor", async () => {
    const stage = await site.addChannel(`secret-${newId(Date.now())}`);
    await newQuestion("submitted", "A secret question?", stage);
    await newQuestion("approved", "An open question?", stage);
    const queries: Record<string, string | number>[] = [
      { search: "secret" },
      { state: "submitted" },
      { limit: 1, sortBy: "created" },
      { limit: 1, offset: 1 },
    ];
    for (const query of queries) {
      const { results, pagination, moderates } = await list(query, "client", {}, stage);
      expect(JSON.stringify(results)).not.toContain("secret");
      expect(pagination.totalCount).toBeLessThanOrEqual(1);
      expect(moderates).toBe(false);
    }
  });
});

describe("an account of another site", () => {
  test("reaches no question of this one, neither by its id nor as a merge's target", async () => {
    const own = await newQuestion("approved");
    const elsewhere = questionsOf(() => other);
    const foreign = await elsewhere.newQuestion("approved");
    const { headers } = await elsewhere.newFan(other);
    expect((await vote(own._id, headers)).status).toBe(404);
    const mixed = { ...headers, "Tifo-Client-Id": site.id };
    expect((await vote(own._id, mixed)).status).toBe(401);
    expect((await decide(own._id, { state: "merged", mergedInto: foreign._id })).status).toBe(400);
    expect(await find(own._id)).toMatchObject({ state: "approved", upvotes: 1 });
  });

  test("can't ask on this site's channel", async () => {
    const { headers } = await questionsOf(() => other).newFan(other);
    expect((await ask("Hello?", headers)).status).toBe(404);
  });
});

describe("a moderator", () => {
  test("whose role ends has no rights from the next request on", async () => {
    const role = { scope: "Question_Answer_Moderator" as const, pageId: [site.channels[0]], write: true };
    const moderator = await site.addAccount(`mod-${newId(Date.now())}`, [role]);
    const headers = { Authorization: `Bearer ${await site.signIn(moderator)}` };
    const waiting = await newQuestion();
    expect((await list({}, "viewer", headers)).moderates).toBe(true);
    await site.call("setRoles", { params: { id: moderator.id }, body: { roles: [] } });
    expect((await decide(waiting._id, { state: "approved" }, "viewer", headers)).status).toBe(403);
    expect((await list({ state: "submitted" }, "viewer", headers)).results).toEqual([]);
    expect((await list({}, "viewer", headers)).moderates).toBe(false);
  });

  test("and another who decide at once leave one of the two outcomes, with the counts that belong to it", async () => {
    const [target, source] = [await newQuestion("approved"), await newQuestion("approved")];
    const responses = await Promise.all([
      decide(source._id, { state: "dismissed" }),
      decide(source._id, { state: "merged", mergedInto: target._id }),
      decide(target._id, { state: "dismissed" }),
    ]);
    for (const { status } of responses) expect([200, 409]).toContain(status);
    const [after, left] = [await find(target._id), await find(source._id)];
    expect(after?.upvotes).toBe((await votersOf(target._id)).length);
    expect(after?.state).toBe("dismissed");
    expect(["dismissed", "merged"]).toContain(left?.state);
  });
});

describe("text", () => {
  test("can't carry markup, templates or direction overrides to viewers' screens", async () => {
    const viewer = await openSocket(site, site.channels[0]);
    await viewer.first("welcome");
    const fan = await newFan();
    const hostile = "<img src=x onerror=alert(1)> {{upvotes}} \u202egnitrats\u202c \"'`";
    const { _id, text } = (await ask(hostile, fan.headers)).as(Question);
    expect(text).not.toMatch(/[\u202a-\u202e]/);
    await decide(_id, { state: "approved" });
    await site.call("broadcastQuestion", { params: { id: _id }, body: {} });
    const overlay = await viewer.when((frame) => frame.type === "overlay.show" && frame.overlayId === _id);
    const html = overlay.type === "overlay.show" && overlay.contents[0]?.kind === "html" ? overlay.contents[0].html : "";
    expect(html).not.toContain("<img");
    expect(html).toContain("&lt;img src&#61;x onerror&#61;alert(1)&gt; {{upvotes}}");
  });

  test("of an answer is limited, and a body with unknown fields is rejected", async () => {
    const { _id } = await newQuestion();
    expect((await decide(_id, { state: "answered", answer: "a".repeat(2_001) })).fields).toEqual(["answer"]);
    expect((await decide(_id, { state: "approved", upvotes: 1_000 })).status).toBe(400);
    const body = { text: "Mine?", state: "approved", upvotes: 99 };
    const asked = await site.call("askQuestion", { as: "viewer", params: { channelId: site.channels[0] }, body });
    expect(asked.status).toBe(400);
  });
});
