import { counterAt, countersOf } from "#worker/durable-objects/stubs.ts";
import { PollCounter as Counter } from "#worker/durable-objects/poll-counter/poll-counter.ts";
import { counterOf, POLL_COUNTERS } from "#worker/durable-objects/poll-counter/poll-counter.protocol.ts";
import { castVote } from "#worker/services/polls/votes.ts";

// Tifo's counters without the API, with stubs for the database and the viewers.

const siteId = "5eed00000000000000000001";
const pollId = "5eed00000000000000006001";
const ANSWERS = ["a", "b", "c"];

const statement = { bind: () => statement, raw: async () => [] };
const database = { prepare: () => statement, batch: async (statements: unknown[]) => statements.map(() => ({ results: [] })) };
const audience = { getByName: () => ({ state: async () => undefined }) };

export class PollCounter extends Counter {
  constructor(ctx: DurableObjectState, env: Env) {
    super(ctx, Object.assign({}, env, { DB: database, SITE_PRESENCE: audience }));
  }
}

const definition = {
  version: 1,
  open: true,
  hideResults: false,
  responsesPerViewer: 1,
  answers: ANSWERS.map((id) => ({ id, answer: id, imageUrl: null })),
  correctAnswerId: null,
};

export default {
  async fetch(request, env) {
    const { pathname, searchParams } = new URL(request.url);
    if (pathname === "/begin") {
      await Promise.all(countersOf(env, siteId, pollId).map((counter) => counter.define(definition)));
      return new Response(String(POLL_COUNTERS));
    }
    if (pathname === "/tally") return Response.json(await counterAt(env, siteId, pollId, 0).sum());
    const accountId = searchParams.get("account") ?? "";
    const answerId = ANSWERS[counterOf(accountId) % ANSWERS.length] ?? "";
    const { ok } = await castVote(env, siteId, { pollId, accountId, answerId, requestId: "1" });
    return new Response(ok ? "counted" : "rejected");
  },
} satisfies ExportedHandler<Env>;
