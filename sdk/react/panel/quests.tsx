import { useEffect, useId, useState } from "react";
import { labelOfStep, type QuestAction, stepOf, performStep } from "../../core/quest-actions.ts";
import type { QuestState } from "../../model/state.ts";
import { useEventState, useSdkContext, useTexts } from "../context.tsx";
import { WalletPanel } from "../lazy-panel.tsx";
import { Note, SiteImage } from "./parts.tsx";
import { key } from "../../i18n/key.ts";
import { problemText } from "../problem-text.ts";

const CLAIMED: Record<NonNullable<QuestState["claim"]>, string> = {
  PENDING: key("Claimed. We’ll be in touch."),
  SUCCESS: key("Claimed. It’s yours."),
  ERROR: key("The reward couldn’t be delivered."),
  ERROR_REGION: key("The reward isn’t available in your region."),
};

interface Props {
  questIds: string[];
  /** On the button for viewers who are not signed in. */
  loginText: string | undefined;
}

/** Quests with this viewer's progress. */
export function Quests({ questIds, loginText }: Props) {
  const { t } = useTexts();
  const quests = useEventState((state) => state.quests);
  const authenticated = useEventState((state) => state.authenticated);
  const { session } = useSdkContext();
  if (questIds.length === 0) return <Note>{t("No quests right now.")}</Note>;
  if (!authenticated)
    return (
      <div className="tifo-note">
        <p>{t("Sign in to take part in quests.")}</p>
        <button
          type="button"
          className="tifo-button"
          onClick={() => session.delegate.notify((host) => host.onPanelEvent?.({ type: "loginRequested" }))}
        >
          <bdi>{loginText ?? t("Sign in")}</bdi>
        </button>
      </div>
    );
  const shown = questIds.flatMap((id) => quests[id] ?? []);
  const paid = shown.filter(({ claimCost, rewardAmount }) => claimCost !== undefined || rewardAmount !== undefined);
  return (
    <>
      {paid.length > 0 && <WalletPanel version={paid.map(({ claim }) => claim ?? "").join()} />}
      {shown.map((quest) => (
        <Quest key={quest.questId} quest={quest} />
      ))}
    </>
  );
}

function Quest({ quest }: { quest: QuestState }) {
  const { t } = useTexts();
  const { event } = useSdkContext();
  const [problem, setProblem] = useState("");
  const heading = useId();
  useEffect(() => event.trackImpression({ kind: "quest", id: quest.questId }), [event, quest.questId]);

  async function claim(): Promise<void> {
    setProblem("");
    try {
      await event.claimQuest(quest.questId);
    } catch (error) {
      setProblem(problemText(error, t("Your claim couldn’t be sent. Try again.")));
    }
  }

  return (
    <section className="tifo-card" aria-labelledby={heading}>
      <SiteImage className="tifo-banner" src={quest.rewardImage} />
      <h3 id={heading}>
        <bdi>{quest.title}</bdi>
      </h3>
      {quest.description !== "" && <p dir="auto">{quest.description}</p>}
      {quest.phase === "upcoming" && <p className="tifo-small">{t("Not open yet.")}</p>}
      {quest.phase === "ended" && <p className="tifo-small">{t("This quest has ended.")}</p>}
      <ul className="tifo-steps">
        {quest.actions.map((action) => (
          <Action key={action.arrayId} questId={quest.questId} action={action} onProblem={setProblem} />
        ))}
      </ul>
      <p className="tifo-small">
        {t("Reward: {reward}", { reward: quest.rewardDescription })}
        {quest.claimCost !== undefined && ` · ${t("Costs {amount, number}", { amount: quest.claimCost })}`}
      </p>
      {quest.claim === undefined && quest.phase === "ended" && !quest.complete ? null : quest.claim === undefined ? (
        <button type="button" className="tifo-button" aria-disabled={!quest.complete} onClick={() => quest.complete && void claim()}>
          {quest.complete ? t("Claim reward") : t("Not complete yet")}
        </button>
      ) : (
        <p className="tifo-claimed">{t(CLAIMED[quest.claim])}</p>
      )}
      <p className="tifo-problem" role="alert">
        {problem}
      </p>
    </section>
  );
}

interface ActionProps {
  questId: string;
  action: QuestAction;
  onProblem: (text: string) => void;
}

/** One action, with a button if the page can open its target. */
function Action({ questId, action, onProblem }: ActionProps) {
  const { t } = useTexts();
  const { event, session } = useSdkContext();
  const { body, current, required, done } = action;
  const step = done ? null : stepOf(action, event);

  async function take(element: Element): Promise<void> {
    onProblem("");
    try {
      await performStep(questId, action, element, event, session);
    } catch (error) {
      onProblem(problemText(error, t("That couldn’t be sent. Try again.")));
    }
  }

  return (
    <li data-done={done}>
      <bdi>{body}</bdi>
      <progress max={required} value={Math.min(current, required)} aria-label={body} />
      <span className="tifo-small">{done ? t("Done") : t("{current} of {required}", { current, required })}</span>
      {step && (
        <button type="button" className="tifo-button" onClick={({ currentTarget }) => void take(currentTarget)}>
          <bdi>{labelOfStep(action, step, t)}</bdi>
        </button>
      )}
    </li>
  );
}
