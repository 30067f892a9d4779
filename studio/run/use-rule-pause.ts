import { useMutation, useQuery, useQueryClient } from "@tanstack/react-query";
import { ok } from "#sdk/client/index.ts";
import { useSession } from "#studio/session/context.tsx";
import { errorText } from "#studio/ui/states.tsx";
import { toast } from "#studio/ui/toast.tsx";
import { inTime } from "./in-time.ts";

/** Another operator may pause the rules. */
const REREAD_MS = 5_000;

/** Whether the channel's automation rules are paused, and the change of it. */
export function useRulePause(channelId: string) {
  const { client } = useSession();
  const queries = useQueryClient();
  const params = { path: { channelId } };
  const key = ["rule-pause", channelId];
  const state = useQuery({
    queryKey: key,
    queryFn: () => ok(client.api.GET("/personalization/v1/channels/{channelId}/rule-pause", { params })),
    refetchInterval: REREAD_MS,
  });
  const change = useMutation({
    mutationFn: (paused: boolean) =>
      ok(client.api.PUT("/personalization/v1/channels/{channelId}/rule-pause", { params, body: { paused }, ...inTime() })),
    onSuccess: async (next) => {
      // A read that started before the change would show the old state.
      await queries.cancelQueries({ queryKey: key });
      queries.setQueryData(key, next);
    },
    onError: (error) => toast(`The rules: ${errorText(error)}`, "danger"),
  });
  return { since: state.data?.since ?? null, change };
}

export type RulePause = ReturnType<typeof useRulePause>;
