import { done, ok, type Schemas, type TifoClient, TifoProblem } from "../client/index.ts";
import type { PollState, QuestActionState, QuestState } from "../model/state.ts";
import type { Translate } from "../i18n/texts.ts";

/** The validation value of an action that accepts any value. */
const ANY_VALUE = "*";

/** How many states one request may ask for. */
const STATES_PER_REQUEST = 20;

export type PollResults = Schemas["PollResults"];

/** Polls and quests over REST: their current state and this viewer's actions. */
export interface Engagement {
  /** Those of these polls that exist, by id, with the viewer's latest response. */
  polls(ids: string[]): Promise<Map<string, LoadedPoll>>;
  /** The viewer's latest response to a poll; undefined without one, or if nobody is signed in. */
  ownAnswer(pollId: string): Promise<string | undefined>;
  /** Those of these quests that exist, by id; none if nobody is signed in, because quests require an account. */
  quests(ids: string[]): Promise<Map<string, QuestState>>;
  /** `vote` says where the viewer votes, and the cost that they have agreed to. */
  answer(pollId: string, vote: { answerId: string; channelId: string; cost?: number }): Promise<void>;
  report(questId: string, arrayId: string, value: string | undefined): Promise<void>;
  claim(questId: string): Promise<NonNullable<QuestState["claim"]>>;
}

/** A poll as the deployment returned it; null if it couldn't count the poll's responses. */
export type LoadedPoll = PollState | null;

export function createEngagement(client: TifoClient): Engagement {
  const { api } = client;

  return {
    async polls(ids) {
      const states = await inParts(ids, (part) => ok(api.GET("/poll/v3/states", { params: { query: { ids: part } } })));
      return new Map(states.map((state) => [state.poll._id, loadedPoll(state)]));
    },
    async ownAnswer(id) {
      if ((await client.token()) === null) return undefined;
      return (await ok(api.GET("/poll/v3/{id}/responses", { params: { path: { id } } }))).at(-1)?.answerId;
    },
    async quests(ids) {
      if ((await client.token()) === null) return new Map();
      const states = await inParts(ids, (part) => ok(api.GET("/quest/v2/states", { params: { query: { ids: part } } })));
      return new Map(states.map((state) => [state.quest._id, questState(state)]));
    },
    async answer(id, vote) {
      await ok(api.POST("/poll/v3/{id}/responses", { params: { path: { id } }, body: vote }));
    },
    async report(id, arrayId, value) {
      const body = value === undefined ? {} : { value };
      await done(api.POST("/quest/v2/{id}/actions/{arrayId}", { params: { path: { id, arrayId } }, body }));
    },
    async claim(id) {
      return (await ok(api.POST("/quest/v2/{id}/claim", { params: { path: { id } } }))).status;
    },
  };
}

/** What `load` returns for all ids, which it is given comma-separated, as many as one request may ask for. */
async function inParts<T>(ids: string[], load: (ids: string) => Promise<T[]>): Promise<T[]> {
  const parts = Array.from({ length: Math.ceil(ids.length / STATES_PER_REQUEST) }, (_, part) =>
    ids.slice(part * STATES_PER_REQUEST, (part + 1) * STATES_PER_REQUEST).join(","),
  );
  return (await Promise.all(parts.map(load))).flat();
}

/** The poll with the counts of `results`, which `poll.updated` frames contain too. */
export function withResults(poll: PollState, { open, total, answers, correctAnswerId }: PollResults): PollState {
  return {
    ...poll,
    open,
    total,
    ...(correctAnswerId === undefined ? {} : { correctAnswerId }),
    answers: poll.answers.map((answer) => {
      const { responses, share } = answers.find(({ answerId }) => answerId === answer.answerId) ?? {};
      return { answerId: answer.answerId, answer: answer.answer, imageUrl: answer.imageUrl, responses, share };
    }),
  };
}

/** Whether a frame's data is the results of a poll. */
export function isResults(data: Record<string, unknown>): data is PollResults {
  return typeof data.pollId === "string" && typeof data.open === "boolean" && typeof data.total === "number" && Array.isArray(data.answers);
}

function loadedPoll({ poll, results, responses }: Schemas["PollState"]): LoadedPoll {
  if (!results || !responses) return null;
  return { ...withResults(pollState(poll), results), myAnswerId: responses.at(-1)?.answerId };
}

function pollState({ _id, type, question, open, answers, responseCost }: Schemas["Poll"]): PollState {
  return {
    pollId: _id,
    type,
    question,
    open,
    ...(responseCost > 0 && { responseCost }),
    answers: answers.map((answer) => ({ answerId: answer._id, answer: answer.answer, imageUrl: answer.imageUrl ?? undefined })),
  };
}

function questState({ quest, progress, claim }: Schemas["QuestState"]): QuestState {
  return {
    questId: quest._id,
    title: quest.title,
    description: quest.description,
    rewardDescription: quest.rewardDescription,
    rewardImage: quest.rewardImage ?? undefined,
    phase: quest.state,
    ...(quest.claimCost > 0 && { claimCost: quest.claimCost }),
    ...(quest.rewardAmount > 0 && { rewardAmount: quest.rewardAmount }),
    complete: progress.complete,
    actions: progress.actions.map((action) =>
      actionState(
        action,
        quest.actions.find(({ arrayId }) => arrayId === action.arrayId),
      ),
    ),
    claim: claim?.status,
  };
}

function actionState(progress: Schemas["QuestProgress"]["actions"][number], action: Schemas["QuestAction"] | undefined): QuestActionState {
  const { body = "", callToAction, validationValue } = action ?? {};
  const value = validationValue === ANY_VALUE ? undefined : (validationValue ?? undefined);
  return { ...progress, body, callToAction: callToAction ?? undefined, value };
}

/** The error for actions that require a signed-in viewer. */
export function signInRequired(t: Translate): TifoProblem {
  return new TifoProblem({ status: 401, code: "unauthenticated", message: t("Sign in to take part") });
}
