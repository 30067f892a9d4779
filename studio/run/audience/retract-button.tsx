import { useMutation } from "@tanstack/react-query";
import { useState } from "react";
import { done } from "#sdk/client/index.ts";
import type { AsRunEntry } from "#studio/run/model.ts";
import { useSession } from "#studio/session/context.tsx";
import { Button } from "#studio/ui/button.tsx";
import { Confirm } from "#studio/ui/dialog.tsx";
import { errorText } from "#studio/ui/states.tsx";
import { toast } from "#studio/ui/toast.tsx";

/** Removes a broadcast that was a mistake from the screens and from the recording, after asking. */
export function RetractButton({ entry, channelId }: { entry: AsRunEntry; channelId: string }) {
  const { client } = useSession();
  const [isAsking, setAsking] = useState(false);
  const retract = useMutation({
    mutationFn: () => {
      const path = { channelId, broadcastId: entry._id };
      return done(client.api.DELETE("/overlay/v1/channels/{channelId}/broadcasts/{broadcastId}", { params: { path } }));
    },
    onSuccess: () => toast(`“${entry.name}” is retracted.`),
    onError: (error) => toast(errorText(error), "danger"),
    onSettled: () => setAsking(false),
  });
  return (
    <>
      <Button size="small" look="quiet" aria-label={`Retract ${entry.name}`} onPress={() => setAsking(true)}>
        Retract
      </Button>
      {isAsking && (
        <Confirm
          title={`Retract “${entry.name}”?`}
          action="Retract"
          isPending={retract.isPending}
          onConfirm={() => retract.mutate()}
          onClose={() => setAsking(false)}
        >
          <p>It disappears from the screens and from the recording of the channel. The log keeps it.</p>
        </Confirm>
      )}
    </>
  );
}
