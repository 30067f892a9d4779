import { useEffect, useState } from "react";
import { type CallToAction, handleCallToAction, hasStats, labelOf, needsStats } from "../../core/calls-to-action.ts";
import { useSdkContext } from "../context.tsx";

/** The button of an overlay; none where the page can't do what it asks for. */
export function CallToActionButton({ call }: { call: CallToAction }) {
  const { event, session } = useSdkContext();
  const asks = needsStats(call);
  const [possible, setPossible] = useState(!asks);

  useEffect(() => {
    if (!asks) return;
    let current = true;
    void hasStats(session).then((answer) => current && setPossible(answer));
    return () => {
      current = false;
    };
  }, [asks, session]);

  if (!possible) return null;
  return (
    <button
      type="button"
      className="tifo-cta"
      onClick={({ currentTarget }) => void handleCallToAction(call, currentTarget, event, session)}
    >
      {labelOf(call)}
    </button>
  );
}
