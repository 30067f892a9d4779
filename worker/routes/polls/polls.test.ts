import { beforeAll, describe, expect, onTestFinished, test, vi } from "vitest";
import { z } from "@hono/zod-openapi";
import { newSite, type TestSite } from "#test/harness.ts";
import { PollCounter } from "#worker/durable-objects/poll-counter/poll-counter.ts";
import { listOf } from "#worker/services/core/list-schemas.ts";
import { newId } from "#worker/lib/ids.ts";
import { EventList } from "#worker/services/webhooks/schemas.ts";
import { Poll, PollAnswer, PollReference } from "#worker/services/polls/schemas.ts";
import { mentions } from "#test/next-batch.ts";
import { derby, idOf, outcomes, pollCalls, storedResponses } from "#test/polls.ts";
import { siteStore } from "#test/site-store.ts";

const PollList = listOf(Poll);

let site: TestSite;

beforeAll(async () => {
  site = await newSite();
});

const { newPoll, answer, patch, settle, read, results } = pollCalls(() => site);

async function eventsOf(id: string) {
  const { results: events } = (await site.call("listEvents", { query: { limit: 200 } })).as(EventList);
  return events.filter((event) => event.resource === `poll/${id}`);
}

describe("a poll", () => {
  test("is returned as created, with an id for each answer", async () => {
    const poll = await newPoll();
    expect(poll).toMatchObject({
      siteId: site.id,
      ...derby,
      correctAnswerId: null,
      settled: null,
      responsesPerViewer: 1,
      hideResults: false,
    });
    expect(poll.answers).toMatchObject(outcomes.map(({ answer: text, imageUrl = null }) => ({ pollId: poll._id, answer: text, imageUrl })));
    expect(new Set(poll.answers.map(({ _id }) => _id)).size).toBe(3);
    expect(await read(poll._id)).toEqual(poll);
    expect((await site.call("listPollAnswers", { params: { id: poll._id } })).as(z.array(PollAnswer))).toEqual(poll.answers);
  });

  test.for(["type", "question", "name", "siteId", "open"])("is rejected without %s", async (field) => {
    const body = { siteId: site.id, ...derby, [field]: undefined };
    expect(await site.call("createPoll", { body })).toMatchObject({ status: 400, fields: [field] });
  });

  test.for<[field: string, body: Record<string, unknown>]>([
    ["type", { type: "quiz" }],
    ["question", { question: " " }],
    ["siteId", { siteId: newId(1) }],
    ["responsesPerViewer", { responsesPerViewer: 0 }],
    ["answers", { answers: [{ answer: "Yes" }, { answer: "Yes" }] }],
    ["answers.0.imageUrl", { answers: [{ answer: "Yes", imageUrl: "http://demo.example/yes.png" }] }],
    ["answers.0._id", { answers: [{ _id: newId(1), answer: "Yes" }] }],
  ])("is rejected for an invalid %s %#", async ([field, body]) => {
    const rejected = await site.call("createPoll", { body: { siteId: site.id, ...derby, ...body } });
    expect(rejected.status).toBe(400);
    expect(rejected.fields.map((path) => path.replace(/^0/, "answers.0"))).toEqual([field]);
  });

  test("accepts only one of its own answers as correct", async () => {
    const [poll, other] = [await newPoll(), await newPoll()];
    expect(await patch(poll._id, { correctAnswerId: idOf(other, 0) })).toMatchObject({ status: 400, fields: ["correctAnswerId"] });
    expect((await patch(poll._id, { correctAnswerId: idOf(poll, 0) })).as(Poll).correctAnswerId).toBe(idOf(poll, 0));
  });

  test("hides its correct answer from viewers until it is settled", async () => {
    const poll = await newPoll({ type: "trivia" });
    await patch(poll._id, { correctAnswerId: idOf(poll, 1) });
    for (const as of ["client", "viewer"] as const) expect((await read(poll._id, as)).correctAnswerId).toBeNull();
    for (const as of ["developer", "admin"] as const) expect((await read(poll._id, as)).correctAnswerId).toBe(idOf(poll, 1));
    const list = (await site.call("listPolls", { as: "client", query: { limit: 200 } })).as(PollList);
    expect(list.results.find(({ _id }) => _id === poll._id)?.correctAnswerId).toBeNull();
    expect(JSON.stringify(await eventsOf(poll._id))).not.toContain(`"correctAnswerId":"${idOf(poll, 1)}"`);
    await settle(poll._id);
    expect((await read(poll._id)).correctAnswerId).toBe(idOf(poll, 1));
  });

  test("is replaced by PUT, except for its answers", async () => {
    const poll = await newPoll({ hideResults: true, responsesPerViewer: 3 });
    const body = { siteId: site.id, type: "poll", question: "Best goal?", name: "Goals", open: false };
    const replaced = (await site.call("replacePoll", { params: { id: poll._id }, body })).as(Poll);
    expect(replaced).toMatchObject({ ...body, hideResults: false, responsesPerViewer: 1, answers: poll.answers });
    expect(await site.call("replacePoll", { params: { id: poll._id }, body: { ...body, answers: [] } })).toMatchObject({
      status: 400,
      fields: ["answers"],
    });
  });

  test("accepts only one of several updates of the same version", async () => {
    const { _id } = await newPoll();
    const changes = await Promise.all(["a", "b", "c"].map((name) => patch(_id, { name }, { "If-Match": '"v1"' })));
    expect(changes.map(({ status }) => status).filter((status) => status === 200)).toHaveLength(1);
  });

  test("is logged with each change, but not with each vote", async () => {
    const poll = await newPoll();
    await patch(poll._id, { name: "Derby" });
    await answer(poll._id, idOf(poll, 0));
    await patch(poll._id, { open: false });
    await patch(poll._id, { open: true });
    await settle(poll._id, idOf(poll, 0));
    await site.call("deletePoll", { params: { id: poll._id } });
    const events = await eventsOf(poll._id);
    expect(events.map(({ type }) => type)).toEqual([
      "poll.created",
      "poll.updated",
      "poll.closed",
      "poll.opened",
      "poll.closed",
      "poll.settled",
      "poll.deleted",
    ]);
    expect(events[5]?.data).toMatchObject({ pollId: poll._id, correctAnswerId: idOf(poll, 0) });
  });
});

describe("a poll's answers", () => {
  const replace = (id: string, body: unknown) => site.call("replacePollAnswers", { params: { id }, body });

  test("are replaced as a list, in which those with an id keep their responses", async () => {
    const poll = await newPoll();
    await answer(poll._id, idOf(poll, 0));
    const body = [{ answer: "Nobody" }, { _id: idOf(poll, 0), answer: "City" }];
    const answers = (await replace(poll._id, body)).as(z.array(PollAnswer));
    expect(answers).toMatchObject([
      { answer: "Nobody", imageUrl: null },
      { _id: idOf(poll, 0), answer: "City" },
    ]);
    await patch(poll._id, { open: false });
    expect((await results(poll._id)).answers.map(({ responses }) => responses)).toEqual([0, 1]);
  });

  test("with responses can't be removed, and accept more responses afterwards", async () => {
    const poll = await newPoll();
    await answer(poll._id, idOf(poll, 0));
    expect((await replace(poll._id, [{ _id: idOf(poll, 1), answer: "A draw" }])).problem?.code).toBe("conflict");
    expect((await answer(poll._id, idOf(poll, 2), "reader")).status).toBe(201);
    expect((await answer(poll._id, idOf(poll, 0), "creator")).status).toBe(201);
  });

  test("accept no responses once removed", async () => {
    const poll = await newPoll();
    await replace(poll._id, [{ _id: idOf(poll, 1), answer: "A draw" }]);
    expect((await answer(poll._id, idOf(poll, 0))).status).toBe(404);
    expect((await answer(poll._id, idOf(poll, 1))).status).toBe(201);
  });

  test("can't be those of another poll", async () => {
    const [poll, other] = [await newPoll(), await newPoll()];
    expect(await replace(poll._id, [{ _id: idOf(other, 0), answer: "City" }])).toMatchObject({ status: 400, fields: ["0._id"] });
    expect(await replace(poll._id, [{ pollId: other._id, answer: "City" }])).toMatchObject({ status: 400, fields: ["0.pollId"] });
    expect((await answer(poll._id, idOf(other, 0))).status).toBe(404);
  });

  test("can't lose the correct one, nor change once the poll is settled", async () => {
    const poll = await newPoll();
    await patch(poll._id, { correctAnswerId: idOf(poll, 0) });
    expect((await replace(poll._id, [{ answer: "Nobody" }])).status).toBe(409);
    await settle(poll._id);
    expect((await replace(poll._id, [...poll.answers, { answer: "Nobody" }])).status).toBe(409);
  });
});

describe("results", () => {
  test("are counts and shares of every answer", async () => {
    const poll = await newPoll();
    await answer(poll._id, idOf(poll, 0), "viewer");
    await answer(poll._id, idOf(poll, 0), "reader");
    await answer(poll._id, idOf(poll, 2), "creator");
    await patch(poll._id, { open: false });
    expect(await results(poll._id)).toEqual({
      pollId: poll._id,
      open: false,
      hidden: false,
      total: 3,
      answers: [
        { answerId: idOf(poll, 0), answer: "Harbour City", responses: 2, share: 0.6667 },
        { answerId: idOf(poll, 1), answer: "A draw", responses: 0, share: 0 },
        { answerId: idOf(poll, 2), answer: "Old Dock", responses: 1, share: 0.3333 },
      ],
    });
  });

  test("are hidden while the poll is open if it is configured so, but not from developer keys", async () => {
    const poll = await newPoll({ hideResults: true });
    await answer(poll._id, idOf(poll, 0));
    const hidden = await results(poll._id);
    expect(hidden).toMatchObject({ hidden: true, total: 1 });
    expect(hidden.answers[0]).toEqual({ answerId: idOf(poll, 0), answer: "Harbour City" });
    expect(await results(poll._id, "developer")).toMatchObject({ hidden: false, answers: [{ responses: 1 }, {}, {}] });
    await patch(poll._id, { open: false });
    expect(await results(poll._id)).toMatchObject({ hidden: false, answers: [{ responses: 1, share: 1 }, {}, {}] });
  });
});

describe("settling", () => {
  test("closes the poll, sets the outcome, and leaves every response in the database", async () => {
    const poll = await newPoll();
    await Promise.all([answer(poll._id, idOf(poll, 0)), answer(poll._id, idOf(poll, 1), "reader")]);
    const settled = (await settle(poll._id, idOf(poll, 1))).as(Poll);
    expect(settled).toMatchObject({ open: false, correctAnswerId: idOf(poll, 1) });
    expect(settled.settled).toBe(settled.modified);
    expect(await storedResponses(poll._id)).toHaveLength(2);
    expect(await results(poll._id)).toMatchObject({ open: false, correctAnswerId: idOf(poll, 1), total: 2 });
    expect((await answer(poll._id, idOf(poll, 1), "creator")).problem?.code).toBe("poll_closed");
  });

  test("is idempotent, and another answer corrects the outcome", async () => {
    const poll = await newPoll();
    const first = (await settle(poll._id, idOf(poll, 0))).as(Poll);
    expect((await settle(poll._id, idOf(poll, 0))).body).toEqual(first);
    expect((await settle(poll._id, idOf(poll, 1))).as(Poll).correctAnswerId).toBe(idOf(poll, 1));
    const events = (await eventsOf(poll._id)).filter(({ type }) => type === "poll.settled");
    expect(events.map(({ data }) => data.correctAnswerId)).toEqual([idOf(poll, 0), idOf(poll, 1)]);
  });

  test("requires one of the poll's answers", async () => {
    const poll = await newPoll();
    expect(await settle(poll._id)).toMatchObject({ status: 400, fields: ["correctAnswerId"] });
    expect(await settle(poll._id, newId(1))).toMatchObject({ status: 400, fields: ["correctAnswerId"] });
    expect((await read(poll._id)).open).toBe(true);
  });

  test("is final: the poll can't be reopened, nor its outcome changed by an update", async () => {
    const poll = await newPoll();
    await settle(poll._id, idOf(poll, 0));
    expect((await patch(poll._id, { open: true })).status).toBe(409);
    expect((await patch(poll._id, { correctAnswerId: idOf(poll, 1) })).status).toBe(409);
    expect((await patch(poll._id, { name: "Derby of 2026" })).as(Poll).name).toBe("Derby of 2026");
  });

  test("that fails between closing and the outcome can be retried with the same key, and reports what is missing", async () => {
    const poll = await newPoll();
    const request = {
      params: { id: poll._id },
      body: { correctAnswerId: idOf(poll, 0) },
      headers: { "Idempotency-Key": `settle-${poll._id}` },
    };
    const unavailable = vi.spyOn(PollCounter.prototype, "define").mockRejectedValue(new Error("unavailable"));
    onTestFinished(() => unavailable.mockRestore());
    for (const attempt of ["while it closes", "once it is closed"]) {
      const { problem } = await site.call("settlePoll", request);
      expect(problem?.status, attempt).toBe(503);
      expect(problem?.message, attempt).toContain("its outcome is not saved");
    }
    expect(await read(poll._id)).toMatchObject({ open: false, settled: null });
    unavailable.mockRestore();
    expect((await site.call("settlePoll", request)).as(Poll)).toMatchObject({ open: false, correctAnswerId: idOf(poll, 0) });
  });

  test("with If-Match succeeds for the current version only", async () => {
    const poll = await newPoll();
    const stale = { params: { id: poll._id }, body: { correctAnswerId: idOf(poll, 0) }, headers: { "If-Match": '"v7"' } };
    expect((await site.call("settlePoll", stale)).status).toBe(412);
    expect((await site.call("settlePoll", { ...stale, headers: { "If-Match": '"v1"' } })).status).toBe(200);
  });
});

describe("the references of a poll", () => {
  test("prevent its deletion, even if added after the check", async () => {
    const poll = await newPoll();
    const renderer = { panel_type: "quick_pick", panel_name: "Late pick", questions: [{ array_id: "a1B2c3D4e", poll_id: poll._id }] };
    const batch = siteStore.batch.bind(siteStore);
    const spy = vi.spyOn(siteStore, "batch").mockImplementation(async <T>(statements: D1PreparedStatement[]) => {
      const answers = await batch<T>(statements);
      if (statements.every((statement) => mentions(statement, poll._id)) && answers.every(({ results: rows }) => rows.length === 0)) {
        spy.mockRestore();
        await site.call("createPanel", { body: { siteId: site.id, renderer } });
      }
      return answers;
    });
    onTestFinished(() => spy.mockRestore());
    const deleted = await site.call("deletePoll", { params: { id: poll._id } });
    expect(deleted.problem?.status).toBe(409);
    expect(deleted.problem?.message).toContain("Late pick");
    expect(await read(poll._id)).toEqual(poll);
  });

  const references = async (id: string) => (await site.call("listPollReferences", { params: { id } })).as(z.array(PollReference));

  test("include panels, which prevent its deletion", async () => {
    const poll = await newPoll();
    expect(await references(poll._id)).toEqual([]);
    const renderer = { panel_type: "quick_pick", panel_name: "Quick pick", questions: [{ array_id: "a1B2c3D4e", poll_id: poll._id }] };
    const panel = await site.call("createPanel", { body: { siteId: site.id, renderer } });
    const { _id: panelId } = panel.as(z.looseObject({ _id: z.string() }));
    expect(await references(poll._id)).toEqual([{ _id: panelId, collection: "poll", name: "Quick pick" }]);
    expect((await site.call("deletePoll", { params: { id: poll._id } })).status).toBe(409);
    await site.call("deletePanel", { params: { id: panelId } });
    expect((await site.call("deletePoll", { params: { id: poll._id } })).status).toBe(200);
  });
});

describe("listing polls", () => {
  test("returns the site's own, newest first, filtered and sorted", async () => {
    const other = await newSite();
    const types = { Cup: "poll", Away: "trivia", Derby: "prediction" };
    const ids: Record<string, string> = {};
    for (const [name, type] of Object.entries(types)) ids[name] = (await newPoll({ name, type, open: name !== "Away" }, other))._id;
    const names = async (query: Record<string, string | number | boolean>) => {
      const page = await other.call("listPolls", { as: "client", query });
      expect(page.log.d1).toMatchObject({ roundTrips: 1 });
      return page.as(PollList).results.map(({ name }) => name);
    };
    expect(await names({})).toEqual(["Derby", "Away", "Cup"]);
    expect(await names({ sortBy: "name" })).toEqual(["Away", "Cup", "Derby"]);
    expect(await names({ sortBy: "created", sortDirection: 1, limit: 2, offset: 1 })).toEqual(["Away", "Derby"]);
    expect(await names({ search: "cUP" })).toEqual(["Cup"]);
    expect(await names({ type: "trivia" })).toEqual(["Away"]);
    expect(await names({ open: true })).toEqual(["Derby", "Cup"]);
    expect(await names({ rQuery: JSON.stringify({ type: ["trivia", "poll"] }) })).toEqual(["Away", "Cup"]);
    expect(await names({ rQuery: JSON.stringify({ _id: [ids.Cup], open: true }) })).toEqual(["Cup"]);
    expect(await names({ rQuery: JSON.stringify({ name: "Derby" }) })).toEqual(["Derby"]);
    expect((await other.call("listPolls", { query: { rQuery: '{"owner":"a"}' } })).fields).toEqual(["rQuery.owner"]);
    expect((await other.call("listPolls", { query: { rQuery: "type:poll" } })).fields).toEqual(["rQuery"]);
  });
});
