import { Button } from "#studio/ui/button.tsx";
import "./developers.css";

interface Props {
  isLive: boolean;
  isError: boolean;
}

/** Whether a list follows. */
export function LiveState({ isLive, isError }: Props) {
  return (
    <p className="live-state soft" role="status">
      <span className={isLive && !isError ? "live-dot" : "live-dot live-dot-off"} aria-hidden="true" />
      {isError ? "Can't be read at the moment" : isLive ? "Live" : "Paused"}
    </p>
  );
}

export function PauseButton({ isLive, onChange }: { isLive: boolean; onChange: (isLive: boolean) => void }) {
  return (
    <Button aria-pressed={isLive} onPress={() => onChange(!isLive)}>
      {isLive ? "Pause" : "Continue"}
    </Button>
  );
}
