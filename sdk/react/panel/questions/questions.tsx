import { useEffect, useId, useMemo, useRef, useState } from "react";
import type { PanelRenderer, QuestionSort, QuestionsState, QuestionState } from "../../../model/state.ts";
import { useQuestions, useTexts } from "../../context.tsx";
import type { Loaded } from "../../use-loaded.ts";
import { ExternalLink, Note, WhenLoaded } from "../parts.tsx";
import { AskForm } from "./ask-form.tsx";
import { QuestionCard } from "./question-card.tsx";
import { key } from "../../../i18n/key.ts";

type Renderer = Extract<PanelRenderer, { panel_type: "question_answer" }>;
type View = "open" | "answered" | "review" | "dismissed";

const TITLES: Record<View, string> = {
  open: key("Questions"),
  answered: key("Answered"),
  review: key("To review"),
  dismissed: key("Dismissed"),
};
const EMPTY: Record<View, string> = {
  open: key("No questions yet. Be the first to ask."),
  answered: key("No answers yet."),
  review: key("Nothing to review."),
  dismissed: key("No dismissed questions."),
};

/** The audience's questions: ask, upvote and read answers; with tools for moderators. */
export function Content({ renderer }: { renderer: Renderer }) {
  const { t } = useTexts();
  const { state, questions } = useQuestions();
  const [view, setView] = useState<View>("open");
  const { sort_by: preferred } = renderer;
  useEffect(() => {
    if (questions.getSnapshot().sort !== preferred) void questions.setSort(preferred);
  }, [questions, preferred]);
  const loaded: Loaded<QuestionsState> =
    state.status === "ready"
      ? { state: "loaded", value: state }
      : state.status === "loading"
        ? { state: "loading" }
        : { state: "failed", retry: () => void questions.reload() };
  return (
    <div className="tifo-questions">
      <AskForm renderer={renderer} />
      <WhenLoaded loaded={loaded}>
        {(value) => (
          <>
            <Toolbar state={value} view={view} onView={setView} showAnswered={renderer.show_answered} />
            <QuestionList key={view} state={value} view={view} />
          </>
        )}
      </WhenLoaded>
      {renderer.rules_link_url !== undefined && (
        <p className="tifo-small">
          <ExternalLink href={renderer.rules_link_url}>{t("Rules for questions")}</ExternalLink>
        </p>
      )}
    </div>
  );
}

interface ToolbarProps {
  state: QuestionsState;
  view: View;
  onView: (view: View) => void;
  showAnswered: boolean;
}

function Toolbar({ state, view, onView, showAnswered }: ToolbarProps) {
  const { t } = useTexts();
  const { questions } = useQuestions();
  const sort = useId();
  const views: View[] = [
    "open",
    ...(showAnswered ? ["answered" as const] : []),
    ...(state.moderates ? (["review", "dismissed"] as const) : []),
  ];
  return (
    <div className="tifo-questions-bar">
      <div className="tifo-chips" role="group" aria-label={t("Show|view")}>
        {views.map((one) => (
          <button key={one} type="button" className="tifo-chip" aria-pressed={one === view} onClick={() => onView(one)}>
            {t(TITLES[one])} {one !== "dismissed" && <span className="tifo-count">{inView(state, one).length}</span>}
          </button>
        ))}
      </div>
      <label className="tifo-sort" htmlFor={sort}>
        <span className="tifo-only-read">{t("Sort by")}</span>
        <select id={sort} value={state.sort} onChange={({ target }) => void questions.setSort(sortOf(target.value))}>
          <option value="upvotes">{t("Most votes")}</option>
          <option value="created">{t("Newest")}</option>
        </select>
      </label>
    </div>
  );
}

function QuestionList({ state, view }: { state: QuestionsState; view: View }) {
  const { t } = useTexts();
  const { questions } = useQuestions();
  const sorted = useMemo(() => inView(state, view).sort(comparing(state.sort)), [state, view]);
  const list = useRef<HTMLUListElement>(null);
  const shown = useSteadyOrder(sorted, list);
  if (shown.length === 0) return <Note>{t(EMPTY[view])}</Note>;
  return (
    <>
      <ul className="tifo-list tifo-question-list" ref={list}>
        {shown.map((question) => (
          <QuestionCard key={question._id} question={question} state={state} />
        ))}
      </ul>
      {state.hasMore && (
        <button type="button" className="tifo-button" onClick={() => void questions.loadMore()}>
          {t("More questions")}
        </button>
      )}
    </>
  );
}

/** Keeps the order while the viewer points at the list or uses it with the keyboard, so that no button moves away under a click. */
function useSteadyOrder(sorted: QuestionState[], list: { current: HTMLElement | null }): QuestionState[] {
  const order = useRef<string[]>([]);
  const isInUse = list.current?.matches(":hover, :focus-within") ?? false;
  const byId = new Map(sorted.map((question) => [question._id, question]));
  const kept = isInUse ? order.current.flatMap((id) => byId.get(id) ?? []) : [];
  const shown = [...kept, ...sorted.filter((question) => !kept.includes(question))];
  useEffect(() => {
    order.current = shown.map(({ _id }) => _id);
  });
  return shown;
}

/** Viewers find their own questions that wait, or became part of another one, among the open ones. */
function inView({ questions, accountId, moderates }: QuestionsState, view: View): QuestionState[] {
  return questions.filter((question) => {
    const isOwn = question.accountId === accountId;
    switch (question.state) {
      case "approved":
        return view === "open";
      case "answered":
        return view === "answered";
      case "submitted":
        return view === "review" || (view === "open" && isOwn && !moderates);
      case "merged":
        return view === "open" && isOwn;
      case "dismissed":
        return view === "dismissed" || (view === "open" && isOwn && !moderates);
    }
  });
}

function comparing(sort: QuestionSort) {
  return (one: QuestionState, other: QuestionState): number =>
    (sort === "upvotes" ? other.upvotes - one.upvotes : 0) || other.askedAt - one.askedAt || (one._id < other._id ? 1 : -1);
}

function sortOf(value: string): QuestionSort {
  return value === "created" ? "created" : "upvotes";
}
