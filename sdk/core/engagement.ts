import { done, ok, type Schemas, type TifoClient, TifoProblem } from "../client/index.ts";
import type { PollState, QuestActionState, QuestState } from "../model/state.ts";
import type { Translate } from "../i18n/texts.ts";

/** The validation value of an action that accepts any value. */
const ANY_VALUE = "*";

export type PollResults = Schemas["PollResults"];

/** Polls and quests over REST: their current state and this viewer's actions. */
export interface Engagement {
  poll(pollId: string): Promise<PollState>;
  /** The viewer's latest response to a poll; undefined without one, or if nobody is signed in. */
  ownAnswer(pollId: string): Promise<string | undefined>;
  /** Null if nobody is signed in, because quests require an account. */
  quest(questId: string): Promise<QuestState | null>;
  /** `vote` says where the viewer votes, and the cost that they have agreed to. */
  answer(pollId: string, vote: { answerId: string; channelId: string; cost?: number }): Promise<void>;
  report(questId: string, arrayId: string, value: string | undefined): Promise<void>;
  claim(questId: string): Promise<NonNullable<QuestState["claim"]>>;
}

export function createEngagement(client: TifoClient): Engagement {
  const { api } = client;

  /** The viewer's own claim; an admin's list contains everybody's. */
  async function claimOf({ questId, accountId }: Schemas["QuestProgress"]): Promise<QuestState["claim"]> {
    const { results } = await ok(api.GET("/claimstatus/v3", { params: { query: { questId, accountId, limit: 1 } } }));
    return results[0]?.status;
  }

  return {
    async poll(id) {
      const path = { params: { path: { id } } };
      const [poll, results] = await Promise.all([ok(api.GET("/poll/v3/{id}", path)), ok(api.GET("/poll/v3/{id}/results", path))]);
      return pollState(poll, results);
    },
    async ownAnswer(id) {
      if ((await client.token()) === null) return undefined;
      return (await ok(api.GET("/poll/v3/{id}/responses", { params: { path: { id } } }))).at(-1)?.answerId;
    },
    async quest(id) {
      if ((await client.token()) === null) return null;
      const path = { params: { path: { id } } };
      const [quest, progress] = await Promise.all([ok(api.GET("/quest/v2/{id}", path)), ok(api.GET("/quest/v2/{id}/progress", path))]);
      return { ...questState(quest, progress), claim: progress.complete ? await claimOf(progress) : undefined };
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

function pollState({ _id, type, question, open, answers, responseCost }: Schemas["Poll"], results: PollResults): PollState {
  const blank: PollState = {
    pollId: _id,
    type,
    question,
    open,
    ...(responseCost > 0 && { responseCost }),
    answers: answers.map((answer) => ({ answerId: answer._id, answer: answer.answer, imageUrl: answer.imageUrl ?? undefined })),
  };
  return withResults(blank, results);
}

function questState(quest: Schemas["Quest"], { complete, actions }: Schemas["QuestProgress"]): QuestState {
  return {
    questId: quest._id,
    title: quest.title,
    description: quest.description,
    rewardDescription: quest.rewardDescription,
    rewardImage: quest.rewardImage ?? undefined,
    phase: quest.state,
    ...(quest.claimCost > 0 && { claimCost: quest.claimCost }),
    ...(quest.rewardAmount > 0 && { rewardAmount: quest.rewardAmount }),
    complete,
    actions: actions.map((progress) =>
      actionState(
        progress,
        quest.actions.find(({ arrayId }) => arrayId === progress.arrayId),
      ),
    ),
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
