import { Button } from "#studio/ui/button.tsx";
import type { RulePause } from "./use-rule-pause.ts";

const TIME = new Intl.DateTimeFormat("en-GB", { timeStyle: "short" });

/** Says that the rules are paused, for as long as they are, to every operator. */
export function PausedRules({ pause: { since, change }, canWrite }: { pause: RulePause; canWrite: boolean }) {
  if (since === null) return <span className="visually-hidden" role="status" />;
  return (
    <div className="paused-rules" role="status">
      <span>
        <strong>Rules paused</strong> since {TIME.format(since)}: nothing happens by itself on this channel.
      </span>
      {canWrite && (
        <Button size="small" isPending={change.isPending} onPress={() => change.mutate(false)}>
          Resume rules
        </Button>
      )}
    </div>
  );
}
