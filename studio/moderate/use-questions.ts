import { useQuery, useQueryClient } from "@tanstack/react-query";
import { useState } from "react";
import { ok, type Schemas } from "#sdk/client/index.ts";
import { useSession } from "#studio/session/context.tsx";
import { errorText } from "#studio/ui/states.tsx";
import { toast } from "#studio/ui/toast.tsx";
import type { Question } from "./desk.ts";
import { LIVE_MS, type Undo } from "./use-chat.ts";

const LIMIT = 100;
export const SHOWN_SECONDS = 15;

export const QUESTION_VIEWS = [
  { value: "submitted", text: "Waiting" },
  { value: "approved", text: "Approved" },
  { value: "answered", text: "Answered" },
  { value: "dismissed", text: "Dismissed" },
] as const;
export type QuestionView = (typeof QUESTION_VIEWS)[number]["value"];

/** The channel's questions in a state: those that wait in the order in which they were asked, the others by upvotes. */
export function useQuestions(channelId: string, state: QuestionView) {
  const { client } = useSession();
  return useQuery({
    queryKey: ["questions", channelId, state],
    queryFn: () => {
      const order =
        state === "submitted" ? ({ sortBy: "created", sortDirection: 1 } as const) : ({ sortBy: "upvotes", sortDirection: -1 } as const);
      const params = { path: { channelId }, query: { state, limit: LIMIT, ...order } };
      return ok(client.api.GET("/qna/v1/{channelId}/questions", { params }));
    },
    refetchInterval: LIVE_MS,
    staleTime: 0,
  });
}

/** How many questions wait, as text; null if unknown. */
export function useWaitingQuestions(channelId: string | null): string | null {
  const { client } = useSession();
  const { data } = useQuery({
    queryKey: ["questions", channelId, "count"],
    queryFn: async () => {
      const params = { path: { channelId: channelId ?? "" }, query: { state: "submitted", limit: 1 } } as const;
      return ok(client.api.GET("/qna/v1/{channelId}/questions", { params }));
    },
    enabled: channelId !== null,
    refetchInterval: 2 * LIVE_MS,
    staleTime: 0,
  });
  if (!data || channelId === null) return null;
  return data.pagination.totalCount.toLocaleString("en");
}

/** The decisions on questions. What was decided on leaves its list at once. */
export function useQuestionDecisions() {
  const { client } = useSession();
  const queries = useQueryClient();
  const [decided, setDecided] = useState<ReadonlySet<string>>(new Set());
  const [undo, setUndo] = useState<Undo | null>(null);
  const reread = () => queries.invalidateQueries({ queryKey: ["questions"] });
  const hide = (id: string, isHidden: boolean): void =>
    setDecided((known) => new Set(isHidden ? [...known, id] : [...known].filter((other) => other !== id)));

  const put = (id: string, body: Schemas["QuestionDecision"]) =>
    ok(client.api.PUT("/qna/v1/questions/{id}", { params: { path: { id } }, body }));

  async function decide(question: Question, body: Schemas["QuestionDecision"]): Promise<void> {
    hide(question._id, true);
    try {
      await put(question._id, body);
      setUndo({
        done: `${DONE[body.state]} the question of ${question.name}`,
        ...(body.state === "dismissed"
          ? { label: "Approve it after all", run: () => decide(question, { state: "approved" }) }
          : { label: "Dismiss it after all", run: () => decide(question, { state: "dismissed" }) }),
      });
    } catch (error) {
      toast(errorText(error), "danger");
    }
    // A question may come back to the list that it has left.
    await reread();
    hide(question._id, false);
  }

  /** Shows it on the screens of the channel; one that waits is approved first. */
  async function show(question: Question): Promise<void> {
    try {
      if (question.state === "submitted") await put(question._id, { state: "approved" });
      const body = { duration: SHOWN_SECONDS, kind: "kit", position: "bottomCenter" } as const;
      await ok(client.api.POST("/qna/v1/questions/{id}/broadcast", { params: { path: { id: question._id } }, body }));
      setUndo({
        done: `The question of ${question.name} is on the screen for ${SHOWN_SECONDS} s`,
        label: null,
        run: () => Promise.resolve(),
      });
    } catch (error) {
      toast(errorText(error), "danger");
    } finally {
      await reread();
    }
  }

  return { decided, undo, decide, show };
}

const DONE = { approved: "Approved", dismissed: "Dismissed", answered: "Answered", merged: "Merged" } as const;
