import { useEffect, useState } from "react";
import { type CallToAction, follow, isPossible, labelOf } from "../../core/calls-to-action.ts";
import { useSurroundings } from "../context.tsx";

/** The button of an overlay; none where the page can't do what it asks for. */
export function CallToActionButton({ call }: { call: CallToAction }) {
  const { event, session } = useSurroundings();
  const [possible, setPossible] = useState(false);

  useEffect(() => {
    let current = true;
    void isPossible(call, session).then((answer) => current && setPossible(answer));
    return () => {
      current = false;
    };
  }, [call, session]);

  if (!possible) return null;
  return (
    <button type="button" className="tifo-cta" onClick={({ currentTarget }) => void follow(call, currentTarget, event, session)}>
      {labelOf(call)}
    </button>
  );
}
