import { evictDurableObject } from "cloudflare:test";
import { env } from "cloudflare:workers";
import fc from "fast-check";
import { beforeAll, expect, test } from "vitest";
import { counterAt } from "#worker/durable-objects/stubs.ts";
import { counterOf, POLL_COUNTERS } from "#worker/durable-objects/poll-counter/poll-counter.protocol.ts";
import { newId } from "#worker/lib/ids.ts";
import { z } from "@hono/zod-openapi";
import { Poll, PollAnswer, PollResults } from "#worker/services/polls/schemas.ts";
import { newSite, type TestSite } from "../harness.ts";

const FANS = 6;

let site: TestSite;
let fans: string[];

beforeAll(async () => {
  site = await newSite();
  fans = await Promise.all(Array.from({ length: FANS }, async (_, number) => (await site.addAccount(`fan-${number}`, [])).id));
});

const INITIAL_ANSWERS = ["City", "Dock"];

/** The simplest model of a poll. */
class Model {
  open = true;
  settled = false;
  /** Ids of the answers, in their order. */
  answers: string[];
  votes: { accountId: string; answerId: string; requestId: string }[] = [];
  readonly responsesPerViewer: number;

  constructor(answers: string[], responsesPerViewer: number) {
    this.answers = answers;
    this.responsesPerViewer = responsesPerViewer;
  }

  vote(accountId: string, answerId: string, requestId: string): string {
    const own = this.votes.filter((vote) => vote.accountId === accountId);
    if (own.some((vote) => vote.requestId === requestId && vote.answerId === answerId)) return "ok";
    if (!this.answers.includes(answerId)) return "not_found";
    if (!this.open) return "poll_closed";
    if (own.length >= this.responsesPerViewer) return "already_answered";
    this.votes.push({ accountId, answerId, requestId });
    return "ok";
  }

  tally(): number[] {
    return this.answers.map((answerId) => this.votes.filter((vote) => vote.answerId === answerId).length);
  }
}

const step = fc.oneof(
  { weight: 8, arbitrary: fc.record({ do: fc.constant("vote"), voter: fc.nat(FANS - 1), what: fc.nat(3), request: fc.nat(3) }) },
  { weight: 1, arbitrary: fc.record({ do: fc.constant("open"), open: fc.boolean() }) },
  { weight: 1, arbitrary: fc.record({ do: fc.constant("add") }) },
  { weight: 1, arbitrary: fc.record({ do: fc.constant("remove"), what: fc.nat(3) }) },
  { weight: 1, arbitrary: fc.record({ do: fc.constant("evict"), counter: fc.nat(POLL_COUNTERS - 1) }) },
  { weight: 1, arbitrary: fc.record({ do: fc.constant("settle"), what: fc.nat(3) }) },
);
type Step = { do: string; voter?: number; what?: number; request?: number; open?: boolean; counter?: number };

/** Applies a step to both the poll and the model, and fails if they differ. */
async function play(pollId: string, model: Model, { do: what, ...step }: Step): Promise<void> {
  // An index beyond the list stands for an answer that doesn't exist.
  const answerId = model.answers[step.what ?? 0] ?? newId(1);
  const params = { id: pollId };
  switch (what) {
    case "vote": {
      const accountId = fans[step.voter ?? 0] ?? "";
      const vote = { accountId, answerId, requestId: String(step.request) };
      const outcome = await counterAt(env, site.id, pollId, counterOf(accountId)).vote(vote);
      expect(outcome.ok ? "ok" : outcome.code).toBe(model.vote(accountId, answerId, vote.requestId));
      return;
    }
    case "open": {
      const { status } = await site.call("patchPoll", { params, body: { open: step.open } });
      expect(status).toBe(model.settled && step.open === true ? 409 : 200);
      if (status === 200) model.open = step.open ?? false;
      return;
    }
    case "add":
    case "remove": {
      const kept = what === "add" ? model.answers : model.answers.filter((id) => id !== answerId);
      const named = kept.map((id) => ({ _id: id, answer: id }));
      const body = what === "add" ? [...named, { answer: newId(Date.now()) }] : named;
      const response = await site.call("replacePollAnswers", { params, body });
      const hasVotes = model.votes.some((vote) => !kept.includes(vote.answerId));
      expect(response.status).toBe(model.settled || hasVotes ? 409 : 200);
      if (response.status === 200) model.answers = response.as(z.array(PollAnswer)).map(({ _id }) => _id);
      return;
    }
    case "evict": {
      const counter = counterAt(env, site.id, pollId, step.counter ?? 0);
      // Only a running object can be evicted.
      await counter.tally();
      return evictDurableObject(counter);
    }
    default: {
      const { status } = await site.call("settlePoll", { params, body: { correctAnswerId: answerId } });
      expect(status).toBe(model.answers.includes(answerId) ? 200 : 400);
      if (status === 200) [model.open, model.settled] = [false, true];
    }
  }
}

test("a poll counts correctly after any sequence of votes, changes, closings and evictions", async () => {
  const plays = fc.asyncProperty(fc.integer({ min: 1, max: 2 }), fc.array(step, { maxLength: 25 }), async (responsesPerViewer, steps) => {
    const body = { siteId: site.id, type: "trivia", question: "Who?", name: "Model", open: true, responsesPerViewer: responsesPerViewer };
    const created = await site.call("createPoll", { body: { ...body, answers: INITIAL_ANSWERS.map((answer) => ({ answer })) } });
    const { _id, answers } = created.as(Poll);
    const model = new Model(
      answers.map((answer) => answer._id),
      responsesPerViewer,
    );
    for (const one of steps) await play(_id, model, one);
    if (model.open) await play(_id, model, { do: "open", open: false });
    const results = (await site.call("getPollResults", { as: "client", params: { id: _id } })).as(PollResults);
    expect(results.answers.map(({ responses }) => responses)).toEqual(model.tally());
    expect(results.total).toBe(model.votes.length);
  });
  await fc.assert(plays, { numRuns: 20 });
});
