import type { ServerFrame } from "../channel/index.ts";
import { done, ok, type Schemas } from "../client/index.ts";
import { cursorOf } from "../client/lists.ts";
import { PressKeys } from "../client/press-keys.ts";
import type { QuestionStore } from "../model/event-interface.ts";
import type { QuestionsState, QuestionState } from "../model/state.ts";
import type { Session } from "./session.ts";
import { createStore } from "./store.ts";

const PAGE_SIZE = 100;
/** Moderators load the questions again after `questions.changed`, which contains none, at most this often (ms). */
const REVIEW_MS = 1_000;
/** After a reconnect, which may reach all viewers at once, each loads again after a random delay of up to this many milliseconds. */
const SPREAD_MS = 2_000;

type SentQuestion = Extract<ServerFrame, { type: "question.updated" }>["question"];

/** The questions of an event, with the methods that only the SDK calls. */
export interface Questions extends QuestionStore {
  onWelcome(): void;
  /** After `questions.changed`: questions have changed that only moderators see. */
  onHiddenChange(): void;
  /** The question of a `question.updated` frame. */
  apply(sent: SentQuestion): void;
  userDidChange(): Promise<void>;
  stop(): void;
}

const INITIAL: QuestionsState = { status: "loading", questions: [], sort: "upvotes", hasMore: false, moderates: false, accountId: null };

/** The channel's questions over REST and frames. Nothing is loaded before somebody subscribes. */
export function createQuestions({ client, environment }: Session, channelId: string, requireViewer: () => Promise<void>): Questions {
  const store = createStore(INITIAL);
  const { api } = client;
  const presses = new PressKeys();
  let listeners = 0;
  let cursor: string | undefined;
  /** Counts loads: a response is dropped if another load has started since. */
  let loads = 0;
  let timer: ReturnType<typeof environment.setTimer> | undefined;
  let hasHiddenChange = false;
  let stopped = false;

  function set(changes: Partial<QuestionsState>): void {
    if (!stopped) store.update((state) => ({ ...state, ...changes }));
  }

  /** Adds questions, or replaces older copies of them. */
  function put(...newer: QuestionState[]): void {
    const byId = new Map(store.getSnapshot().questions.map((question) => [question._id, question]));
    for (const question of newer) if ((byId.get(question._id)?.revision ?? 0) <= question.revision) byId.set(question._id, question);
    set({ questions: [...byId.values()] });
  }

  function remove(questionId: string): void {
    set({ questions: store.getSnapshot().questions.filter(({ _id }) => _id !== questionId) });
  }

  async function page(from?: string): Promise<Schemas["QuestionList"]> {
    const { sort } = store.getSnapshot();
    const query = { limit: PAGE_SIZE, sortBy: sort, sortDirection: -1 as const, ...(from !== undefined && { cursor: from }) };
    return ok(api.GET("/qna/v1/{channelId}/questions", { params: { path: { channelId }, query } }));
  }

  async function reload(): Promise<void> {
    const load = ++loads;
    hasHiddenChange = false;
    try {
      const [list, token] = await Promise.all([page(), client.token()]);
      if (load !== loads) return;
      cursor = cursorOf(list);
      const known = new Map(store.getSnapshot().questions.map((question) => [question._id, question]));
      // A frame may have been faster than the response.
      const questions = list.results.map((question) => newer(question, known.get(question._id)));
      set({ status: "ready", questions, moderates: list.moderates, hasMore: cursor !== undefined, accountId: accountOf(token) });
    } catch {
      if (load === loads && store.getSnapshot().status !== "ready") set({ status: "failed" });
    }
  }

  function later(work: () => void, wait: number): void {
    environment.clearTimer(timer);
    if (!stopped && listeners > 0) timer = environment.setTimer(work, wait);
  }

  return {
    getSnapshot: store.getSnapshot,
    subscribe(listener) {
      const unsubscribe = store.subscribe(listener);
      if (listeners++ === 0) void reload();
      return () => {
        unsubscribe();
        if (--listeners === 0) environment.clearTimer(timer);
      };
    },
    reload,
    async setSort(sort) {
      set({ sort });
      await reload();
    },
    async loadMore() {
      if (cursor === undefined) return;
      const load = loads;
      const list = await page(cursor);
      if (load !== loads) return;
      cursor = cursorOf(list);
      put(...list.results);
      set({ hasMore: cursor !== undefined });
    },

    async ask(text) {
      await requireViewer();
      // A viewer whose answer was lost asks again, and has asked once.
      const question = await presses.once(text, ({ key }) => {
        const headers = { "Idempotency-Key": key };
        return ok(api.POST("/qna/v1/{channelId}/questions", { params: { path: { channelId } }, body: { text }, headers }));
      });
      put(question);
    },
    async upvote(id, upvoted) {
      await requireViewer();
      const before = store.getSnapshot().questions.find(({ _id }) => _id === id);
      if (!before || before.upvoted === upvoted) return;
      put({ ...before, upvoted, upvotes: before.upvotes + (upvoted ? 1 : -1) });
      const call = { params: { path: { id } } };
      try {
        const after = await ok(
          upvoted ? api.PUT("/qna/v1/questions/{id}/upvote", call) : api.DELETE("/qna/v1/questions/{id}/upvote", call),
        );
        put(after);
      } catch (error) {
        const now = store.getSnapshot().questions.find(({ _id }) => _id === id);
        // A frame that arrived in between has the right count.
        if (now) put({ ...now, upvoted: before.upvoted, upvotes: now.revision === before.revision ? before.upvotes : now.upvotes });
        throw error;
      }
    },
    async decide(id, decision) {
      put(await ok(api.PUT("/qna/v1/questions/{id}", { params: { path: { id } }, body: decision })));
    },
    async showOnScreen(id, seconds = 15) {
      const body = { duration: seconds, position: "bottomLeft" as const, kind: "kit" as const };
      await done(api.POST("/qna/v1/questions/{id}/broadcast", { params: { path: { id } }, body }));
    },

    onWelcome() {
      if (store.getSnapshot().status === "ready" && listeners > 0) later(() => void reload(), environment.random() * SPREAD_MS);
    },
    onHiddenChange() {
      if (hasHiddenChange || !store.getSnapshot().moderates) return;
      hasHiddenChange = true;
      later(() => void reload(), REVIEW_MS);
    },
    apply(sent) {
      const { questions, moderates, accountId, status } = store.getSnapshot();
      if (status !== "ready") return;
      const known = questions.find(({ _id }) => _id === sent._id);
      if (sent.state === "dismissed") {
        const isKept = moderates || (known !== undefined && known.accountId === accountId);
        if (known && isKept) set({ questions: questions.map((one) => (one === known ? { ...known, state: "dismissed" } : one)) });
        else remove(sent._id);
      } else if (known || sent.state !== "merged") put({ ...known, ...sent, upvoted: known?.upvoted ?? false });
    },
    async userDidChange() {
      loads++;
      store.update(() => ({ ...INITIAL, sort: store.getSnapshot().sort }));
      if (listeners > 0) await reload();
    },
    stop() {
      stopped = true;
      loads++;
      environment.clearTimer(timer);
    },
  };
}

function newer(question: QuestionState, known: QuestionState | undefined): QuestionState {
  return known && known.revision > question.revision ? { ...known, upvoted: question.upvoted } : question;
}

/** The account in a JWT; null for a token that can't be parsed. */
function accountOf(token: string | null): string | null {
  try {
    const payload: unknown = JSON.parse(atob((token?.split(".")[1] ?? "").replaceAll("-", "+").replaceAll("_", "/")));
    const sub = typeof payload === "object" && payload !== null && "sub" in payload ? payload.sub : null;
    return typeof sub === "string" ? sub : null;
  } catch {
    return null;
  }
}
