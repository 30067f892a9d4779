import { useEffect, useState } from "react";
import { type CallToAction, handleCallToAction, hasStats, labelOf, needsStats } from "../../core/calls-to-action.ts";
import { useEventState, useSdkContext, useTexts } from "../context.tsx";

/** The button of a call to action; none if the page can't perform it. */
export function CallToActionButton({ call, overlayId, broadcastId }: { call: CallToAction; overlayId: string; broadcastId: string }) {
  const { t } = useTexts();
  const { event, session } = useSdkContext();
  const panels = useEventState((state) => state.panels);
  const requiresStats = needsStats(call);
  const [possible, setPossible] = useState(!requiresStats);

  useEffect(() => {
    if (!requiresStats) return;
    let current = true;
    void hasStats(session, panels).then((available) => current && setPossible(available));
    return () => {
      current = false;
    };
  }, [requiresStats, session, panels]);

  if (!possible) return null;
  return (
    <button
      type="button"
      className="tifo-cta"
      onClick={({ currentTarget }) => {
        event.reportAction({ kind: "overlay.cta", id: overlayId, broadcastId });
        void handleCallToAction(call, currentTarget, event, session);
      }}
    >
      <bdi>{labelOf(call, t)}</bdi>
    </button>
  );
}
