import { beforeAll, describe, expect, test } from "vitest";
import { newSite, type TestSite } from "#test/harness.ts";
import { QuestionPage, questionsOf } from "#test/questions.ts";
import { Question } from "#worker/services/qna/schemas.ts";
import { committedEvents } from "#test/committed-events.ts";
import { createDb } from "#db/client.ts";
import { chatBans } from "#db/schema/engagement/chat.ts";
import { newId } from "#worker/lib/ids.ts";
import { siteStore } from "#test/site-store.ts";

let site: TestSite;

beforeAll(async () => {
  site = await newSite();
});

const { newFan, ask, decide, newQuestion, vote, list, find } = questionsOf(() => site);

describe("asking", () => {
  test("submits a question with the asker's name and first upvote", async () => {
    const fan = await newFan();
    const response = await ask("  Will Moreno\nstart? ", fan.headers);
    expect(response.status).toBe(201);
    expect(response.as(Question)).toMatchObject({
      channelId: site.channels[0],
      accountId: fan.id,
      name: fan.email.split("@")[0],
      text: "Will Moreno start?",
      state: "submitted",
      upvotes: 1,
      upvoted: true,
      answer: null,
      mergedInto: null,
    });
  });

  test.each([
    ["blank text", "  \u200b "],
    ["text of more than 500 characters", "é".repeat(501)],
  ])("rejects %s", async (_, text) => {
    expect((await ask(text, (await newFan()).headers)).problem).toMatchObject({ status: 400, code: "invalid_request" });
  });

  test("accepts 500 characters outside of the basic plane", async () => {
    expect((await ask("🎺".repeat(500), (await newFan()).headers)).status).toBe(201);
  });

  test("on an unknown channel, or one of another site, is a 404", async () => {
    const other = await newSite();
    const { headers } = await newFan();
    for (const channelId of [newId(1), other.channels[0]]) expect((await ask("Hello?", headers, channelId)).status).toBe(404);
  });

  test("is limited per account", async () => {
    const { headers } = await newFan();
    const statuses = [];
    for (let i = 0; i < 11; i++) statuses.push((await ask(`Question ${i}?`, headers)).status);
    expect(statuses.filter((status) => status === 201)).toHaveLength(10);
    expect(statuses.at(-1)).toBe(429);
    expect((await ask("Mine?", (await newFan()).headers)).status).toBe(201);
  });

  test("with an Idempotency-Key asks once", async () => {
    const fan = await newFan();
    const headers = { ...fan.headers, "Idempotency-Key": `ask-${fan.id}` };
    const [first, second] = [await ask("Once?", headers), await ask("Once?", headers)];
    expect(second.body).toEqual(first.body);
    expect((await list({ search: "Once?" })).results).toHaveLength(1);
  });
});

describe("the list", () => {
  test("shows viewers approved and answered questions only, and nothing that is for moderators", async () => {
    const stage = await site.addChannel(`list-${newId(Date.now())}`);
    const shown = [await newQuestion("approved", "One?", stage), await newQuestion("answered", "Two?", stage)];
    for (const state of ["submitted", "dismissed", "merged"] as const) await newQuestion(state, "Hidden?", stage);
    for (const as of ["client", "viewer"] as const) {
      const { results, pagination } = await list({ search: "?" }, as, {}, stage);
      const own = results.filter(({ text }) => text !== "Who starts?");
      expect(own.map(({ _id }) => _id).sort()).toEqual(shown.map(({ _id }) => _id).sort());
      expect(pagination.totalCount).toBe(results.length);
      expect(Object.keys(own[0] ?? {})).not.toContain("muted");
    }
    expect((await list({ state: "submitted" }, "client", {}, stage)).results).toEqual([]);
    expect((await list({ state: "dismissed" }, "viewer", {}, stage)).results).toEqual([]);
    expect((await list({ state: "merged" }, "client", {}, stage)).results).toHaveLength(1);
  });

  test("shows an account its own questions in any state", async () => {
    const fan = await newFan();
    const { _id } = (await ask("Mine?", fan.headers)).as(Question);
    for (const state of ["submitted", "dismissed"] as const) {
      if (state !== "submitted") await decide(_id, { state });
      expect(await find(_id, "viewer", fan.headers)).toMatchObject({ state, upvoted: true });
      expect(await find(_id, "viewer")).toBeUndefined();
    }
  });

  test("shows moderators all states, and filters by them", async () => {
    const stage = await site.addChannel(`states-${newId(Date.now())}`);
    const states = ["submitted", "approved", "dismissed", "answered"] as const;
    for (const state of states) await newQuestion(state, `${state}?`, stage);
    const moderator = await site.addAccount(`mod-${newId(Date.now())}`, [
      { scope: "Question_Answer_Moderator", pageId: [stage], write: true },
    ]);
    const headers = { Authorization: `Bearer ${await site.signIn(moderator)}` };
    for (const [as, more] of [
      ["developer", {}],
      ["admin", {}],
      ["viewer", headers],
    ] as const) {
      expect((await list({}, as, more, stage)).results.map(({ state }) => state).sort()).toEqual([...states].sort());
      expect((await list({ state: "submitted" }, as, more, stage)).results.map(({ text }) => text)).toEqual(["submitted?"]);
    }
  });

  test("tells callers whether they may decide", async () => {
    const may = async (as: "client" | "viewer" | "reader" | "creator" | "developer") => (await list({}, as)).moderates;
    expect(await Promise.all([may("client"), may("viewer"), may("reader"), may("creator"), may("developer")])).toEqual([
      ...[false, false, false],
      ...[true, true],
    ]);
  });

  test("sorts by upvotes or time, and continues at a cursor", async () => {
    const stage = await site.addChannel(`sort-${newId(Date.now())}`);
    const questions = [];
    for (const text of ["First?", "Second?", "Third?"]) questions.push(await newQuestion("approved", text, stage));
    await vote(questions[1]?._id ?? "", (await newFan()).headers);
    const texts = async (query: Record<string, string | number>) =>
      (await list(query, "client", {}, stage)).results.map(({ text }) => text);
    expect(await texts({})).toEqual(["Second?", "Third?", "First?"]);
    expect(await texts({ sortBy: "created" })).toEqual(["First?", "Second?", "Third?"]);
    const first = await list({ limit: 2 }, "client", {}, stage);
    const next = Object.fromEntries(new URL(first.pagination.next ?? "", "https://tifo.test").searchParams);
    expect(await texts(next)).toEqual(["First?"]);
  });

  test("tells each account what it has upvoted", async () => {
    const { _id } = await newQuestion("approved");
    const fan = await newFan();
    await vote(_id, fan.headers);
    expect(await find(_id, "viewer", fan.headers)).toMatchObject({ upvotes: 2, upvoted: true });
    expect(await find(_id, "viewer")).toMatchObject({ upvotes: 2, upvoted: false });
    expect(await find(_id, "client")).toMatchObject({ upvoted: false });
  });
});

describe("the channel's gate", () => {
  test("applies to reading, asking and upvoting", async () => {
    const gated = await site.addChannel(`gated-${newId(Date.now())}`, { gate: { type: "entitlement", skus: ["season-pass"] } });
    const { headers } = await newFan();
    const read = (as: "client" | "viewer" | "developer" | "admin") => site.call("listQuestions", { as, params: { channelId: gated } });
    expect((await read("client")).problem).toMatchObject({ status: 401, code: "unauthenticated" });
    expect((await read("viewer")).problem).toMatchObject({ status: 403, code: "forbidden" });
    expect((await ask("May I?", headers, gated)).problem).toMatchObject({ status: 403, code: "forbidden" });
    for (const as of ["developer", "admin"] as const) expect((await read(as)).status).toBe(200);
    const asked = await site.call("askQuestion", { as: "admin", params: { channelId: gated }, body: { text: "Who may?" } });
    const { _id } = asked.as(Question);
    await decide(_id, { state: "approved" });
    expect((await vote(_id, headers)).problem).toMatchObject({ status: 403, code: "forbidden" });
  });

  test("lets moderators of its questions pass", async () => {
    const gated = await site.addChannel(`members-${newId(Date.now())}`, { gate: { type: "login", skus: ["season-pass"] } });
    const moderator = await site.addAccount(`gate-${newId(Date.now())}`, [{ scope: "Question_Answer_Moderator", pageId: [], write: true }]);
    const headers = { Authorization: `Bearer ${await site.signIn(moderator)}` };
    expect((await site.call("listQuestions", { as: "viewer", headers, params: { channelId: gated } })).as(QuestionPage).results).toEqual(
      [],
    );
  });
});

describe("a decision", () => {
  test("answers a question in writing, in the moderator's name", async () => {
    const { _id } = await newQuestion();
    expect((await decide(_id, { state: "answered", answer: "Yes." }, "admin")).as(Question)).toMatchObject({
      state: "answered",
      answer: "Yes.",
      answeredBy: "admin",
    });
    expect((await decide(_id, { state: "answered" })).as(Question)).toMatchObject({ answer: null, answeredBy: null });
    expect((await decide(_id, { state: "approved" })).as(Question)).toMatchObject({ state: "approved", answer: null });
  });

  test("that repeats changes nothing and commits no event", async () => {
    const { _id } = await newQuestion();
    const [first, second] = [await decide(_id, { state: "approved" }), await decide(_id, { state: "approved" })];
    expect(second.body).toEqual(first.body);
    const events = (await committedEvents([site.id])).filter(({ resource }) => resource === `question/${_id}`);
    expect(events.map(({ type }) => type)).toEqual(["question.submitted", "question.approved"]);
  });

  test.each([
    ["dismissed", { state: "answered" }],
    ["merged", { state: "approved" }],
    ["answered", { state: "merged" }],
  ] as const)("rejects %s → $state with a 409", async (state, body) => {
    const { _id } = await newQuestion(state);
    const mergedInto = body.state === "merged" ? { mergedInto: (await newQuestion("approved"))._id } : {};
    expect((await decide(_id, { ...body, ...mergedInto })).problem).toMatchObject({ status: 409, code: "conflict" });
  });

  test.each([
    [{ state: "submitted" }, "state"],
    [{ state: "approved", answer: "Yes" }, "answer"],
    [{ state: "merged" }, "mergedInto"],
    [{ state: "approved", mergedInto: newId(1) }, "mergedInto"],
    [{ state: "merged", mergedInto: newId(1) }, "mergedInto"],
  ])("rejects %j, and names %s", async (body, field) => {
    const { _id } = await newQuestion();
    const { status, fields } = await decide(_id, body);
    expect({ status, fields }).toEqual({ status: 400, fields: [field] });
  });

  test("is up to those who moderate the channel", async () => {
    const { _id } = await newQuestion();
    const elsewhere = await newQuestion("submitted", "There?", site.channels[1]);
    const accounts = {
      own: [{ scope: "Question_Answer_Moderator", pageId: [site.channels[0]], write: true }],
      all: [{ scope: "Question_Answer_Moderator", pageId: [], write: true }],
      reading: [{ scope: "Question_Answer_Moderator", pageId: [], write: false }],
      chat: [{ scope: "Chat_Moderator", pageId: [], write: true }],
    } as const;
    const outcomes: Record<string, number[]> = {};
    for (const [name, roles] of Object.entries(accounts)) {
      const account = await site.addAccount(
        `${name}-${newId(Date.now())}`,
        roles.map((role) => ({ ...role, pageId: [...role.pageId] })),
      );
      const headers = { Authorization: `Bearer ${await site.signIn(account)}` };
      const results = [
        await decide(_id, { state: "approved" }, "viewer", headers),
        await decide(elsewhere._id, { state: "approved" }, "viewer", headers),
      ];
      outcomes[name] = results.map(({ status }) => status);
    }
    expect(outcomes).toEqual({ own: [200, 403], all: [200, 200], reading: [403, 403], chat: [403, 403] });
    expect((await decide(elsewhere._id, { state: "dismissed" }, "creator")).status).toBe(403);
  });

  test("on another site's question is a 404", async () => {
    const other = await newSite();
    const { _id } = await questionsOf(() => other).newQuestion();
    expect((await decide(_id, { state: "approved" })).status).toBe(404);
    expect((await vote(_id, (await newFan()).headers)).status).toBe(404);
  });

  test("honours If-Match, which upvotes don't affect", async () => {
    const fan = await newFan();
    const asked = await ask("Match?", fan.headers);
    const { _id } = asked.as(Question);
    const etag = asked.headers.get("ETag") ?? "";
    const approved = await decide(_id, { state: "approved" }, "developer", { "If-Match": etag });
    expect(approved.status).toBe(200);
    await vote(_id, (await newFan()).headers);
    expect((await decide(_id, { state: "dismissed" }, "developer", { "If-Match": etag })).status).toBe(412);
    const headers = { "If-Match": approved.headers.get("ETag") ?? "" };
    expect((await decide(_id, { state: "dismissed" }, "developer", headers)).status).toBe(200);
  });
});

describe("bans of the chat", () => {
  const sanction = async (account: { id: string }, kind: "ban" | "mute", channelId = "", until: number | null = null) => {
    const now = Date.now();
    const row = {
      id: newId(now),
      siteId: site.id,
      accountId: account.id,
      kind,
      channelId,
      until,
      reason: "Abuse",
      created: now,
      modified: now,
    };
    await createDb(siteStore).insert(chatBans).values(row);
  };

  test.each([
    ["of the site", "", 403],
    ["of the channel", "here", 403],
    ["of another channel", "there", 201],
    ["that have ended", "ended", 201],
  ])("%s: asking and upvoting", async (_, where, expected) => {
    const [here, there] = site.channels;
    const fan = await newFan();
    const open = await newQuestion("approved");
    const channelId = where === "here" ? here : where === "there" ? there : "";
    await sanction(fan, "ban", channelId, where === "ended" ? Date.now() - 1 : null);
    const [asked, voted] = [await ask("May I?", fan.headers), await vote(open._id, fan.headers)];
    expect(asked.status).toBe(expected);
    expect(voted.status).toBe(expected === 201 ? 200 : 403);
    if (expected === 403) expect([asked.problem?.code, voted.problem?.code]).toEqual(["chat_banned", "chat_banned"]);
    expect((await list({}, "viewer", fan.headers)).results.length).toBeGreaterThan(0);
  });

  test("a muted account's question is shown to itself and to moderators only, who can't approve it", async () => {
    const fan = await newFan();
    await sanction(fan, "mute", site.channels[0]);
    const { _id } = (await ask("Muted?", fan.headers)).as(Question);
    expect(await find(_id, "viewer", fan.headers)).not.toHaveProperty("muted");
    expect(await find(_id)).toMatchObject({ muted: true, state: "submitted" });
    const target = await newQuestion("approved");
    for (const body of [{ state: "approved" }, { state: "answered" }, { state: "merged", mergedInto: target._id }])
      expect((await decide(_id, body)).problem).toMatchObject({ status: 409, code: "conflict" });
    expect((await decide(_id, { state: "dismissed" })).status).toBe(200);
  });
});
