import { useCallback, useEffect, useRef, useState } from "react";
import { parsedUrl } from "../../core/web-address.ts";
import { key } from "../../i18n/key.ts";
import type { PollState } from "../../model/state.ts";
import { useEventState, useSdkContext, useTexts } from "../../react/context.tsx";
import { problemText } from "../../react/problem-text.ts";
import { Boundary } from "../../react/overlay/boundary.tsx";
import type { SlotContentProps } from "../../react/overlay/slot-content.ts";
import { forgetPieces } from "./load.ts";
import type { PollAccess } from "./piece.ts";
import { renderPiece } from "./render-piece.ts";

type Props = SlotContentProps<"kit">;

/** A template of the kit. It stays mounted while broadcasts with the same key update it. */
export function Content(props: Props) {
  return (
    <Boundary attempt={props.overlay.broadcastId} onFailure={forgetPieces}>
      <Piece {...props} />
    </Boundary>
  );
}

function Piece({ content, overlay, mode, onShown }: Props) {
  const { event, session } = useSdkContext();
  const { t } = useTexts();
  const root = useRef<HTMLDivElement>(null);
  const { broadcastId, startsAt } = overlay;
  const { look = "auto" } = content.variables;
  const poll = usePollAccess(content.template === "poll" ? content.variables.pollId : undefined);
  const isReady = content.template !== "poll" || poll !== undefined;
  const now = useCallback(() => event.overlayNow(broadcastId), [event, broadcastId]);
  const address = useCallback((url: string) => parsedUrl(url, session.origin)?.href ?? "", [session]);

  useEffect(() => {
    if (isReady) onShown(root.current?.innerText.replace(/\s+/g, " ").trim() ?? "");
  }, [isReady, onShown]);

  const common = {
    ...{ startsAt, now, address },
    onDismiss: () => event.dismissOverlay(broadcastId),
    t,
    ...(poll && { poll }),
  };
  return (
    <div ref={root} className="tifo-kit" data-look={look === "auto" ? mode : look}>
      {renderPiece(session.origin, content, common)}
    </div>
  );
}

/** The poll with this viewer's answer; undefined until it has been read. */
function usePollAccess(pollId: string | undefined): PollAccess | undefined {
  const { event } = useSdkContext();
  const { t } = useTexts();
  const state = useEventState(({ polls }) => (pollId === undefined ? undefined : polls[pollId]));
  const [sending, setSending] = useState<string>();
  const [problem, setProblem] = useState("");
  useEffect(() => {
    if (pollId !== undefined) event.followPoll(pollId);
  }, [event, pollId]);
  if (pollId === undefined || !state) return undefined;

  async function answer(id: string, answerId: string): Promise<void> {
    setSending(answerId);
    setProblem("");
    try {
      await event.answerPoll(id, answerId);
    } catch (error) {
      setProblem(problemText(error, t("Your answer couldn’t be sent. Try again.")));
    } finally {
      setSending(undefined);
    }
  }

  return {
    ...state,
    kind: t(KINDS[state.type]),
    // While an answer is being sent, another one can't be.
    open: state.open && sending === undefined,
    problem,
    answer: (answerId) => void answer(pollId, answerId),
  };
}

const KINDS: Record<PollState["type"], string> = { poll: key("Poll"), prediction: key("Prediction"), trivia: key("Trivia") };
