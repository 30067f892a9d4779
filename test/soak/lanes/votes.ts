import { z } from "@hono/zod-openapi";
import { SITE_A } from "#db/demo/match-day.ts";
import { newFan, type Fan } from "../fan.ts";
import type { Api } from "../api.ts";
import type { Lane, Outcome } from "../lane.ts";

const VOTERS = 6;
const CREATED = 201;
/** The vote was counted, but its response was lost. */
const ALREADY = 409;

const Created = z.object({ _id: z.string() });
const Poll = z.object({ _id: z.string(), answers: z.tuple([Created, Created]) });
const Results = z.object({ total: z.number(), answers: z.array(z.object({ responses: z.number() })) });

/** One poll after the other, in which every account votes once: each tally is exact. */
export class Votes implements Lane {
  readonly name = "votes";
  readonly pauseMs = 500;
  readonly #api: Api;
  readonly #voters: Fan[] = [];
  /** Votes that the server has acknowledged, by poll and answer. */
  readonly #tallies = new Map<string, [number, number]>();
  readonly #rejected: string[] = [];
  #poll: z.output<typeof Poll> | undefined;
  #turn = 0;

  constructor(api: Api) {
    this.#api = api;
  }

  async prepare(): Promise<void> {
    for (let number = 0; number < VOTERS; number++) this.#voters.push(await newFan(this.#api, `voter-${number}`));
  }

  async step(): Promise<void> {
    const turn = this.#turn++ % VOTERS;
    if (turn === 0) this.#poll = Poll.parse(await this.#api.succeed("/poll/v3", { method: "POST", body: POLL }));
    const [poll, voter] = [this.#poll, this.#voters[turn]];
    if (!poll || !voter) return;
    const choice = turn % 3 === 0 ? 0 : 1;
    const { status } = await voter.decide(`/poll/v3/${poll._id}/responses`, { answerId: poll.answers[choice]._id });
    if (status !== CREATED && status !== ALREADY) return void this.#rejected.push(`vote ${this.#turn}: ${status}`);
    const tally = this.#tallies.get(poll._id) ?? [0, 0];
    tally[choice]++;
    this.#tallies.set(poll._id, tally);
  }

  async compare(): Promise<Outcome> {
    const wrong = [...this.#rejected];
    let acknowledged = 0;
    for (const [id, tally] of this.#tallies) {
      const results = Results.parse(await this.#api.succeed(`/poll/v3/${id}/results`));
      const counted = results.answers.map(({ responses }) => responses);
      acknowledged += tally[0] + tally[1];
      if (JSON.stringify(counted) !== JSON.stringify(tally) || results.total !== tally[0] + tally[1])
        wrong.push(`poll ${id}: counted ${counted.join(", ")} instead of ${tally.join(", ")}`);
    }
    return { acknowledged, wrong };
  }
}

const POLL = {
  siteId: SITE_A,
  type: "poll",
  name: "Soak",
  question: "Who wins?",
  open: true,
  answers: [{ answer: "Home" }, { answer: "Away" }],
};
