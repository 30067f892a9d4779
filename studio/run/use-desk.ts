import { useMutation, useQuery, useQueryClient } from "@tanstack/react-query";
import { useEffect, useState } from "react";
import { ok, TifoProblem } from "#sdk/client/index.ts";
import { ifMatch, type Loaded, loaded } from "#sdk/client/latest.ts";
import { useSession } from "#studio/session/context.tsx";
import { errorText } from "#studio/ui/states.tsx";
import { toast } from "#studio/ui/toast.tsx";
import { inTime } from "./in-time.ts";
import type { ItemInput, Rundown, Take, Variables } from "./model.ts";

const PRESENCE_MS = 15_000;
/** Frames say when to read it again; this is for those that a broken connection has lost. */
const REREAD_MS = 5_000;

/** Its version is that of its items and name: takes don't change it. */
type LoadedRundown = Loaded<Rundown>;

/** A rundown and everything that operators do with it. */
export function useDesk(id: string) {
  const { client, account } = useSession();
  const queries = useQueryClient();
  const [taken, setTaken] = useState<{ take: Take; at: number } | null>(null);
  const path = { id };
  const key = ["rundown", id];
  const current = useQuery({
    queryKey: key,
    queryFn: () => loaded(client.api.GET("/rundown/v1/{id}", { params: { path } })),
    refetchInterval: REREAD_MS,
    staleTime: 0,
  });
  usePresence(id);

  const reread = (): void => {
    void queries.invalidateQueries({ queryKey: key });
    void queries.invalidateQueries({ queryKey: ["as-run", id] });
  };
  const failed = (error: unknown): void => {
    const lostRace = error instanceof TifoProblem && (error.status === 412 || error.status === 409);
    toast(lostRace ? "Somebody else was faster. The rundown shows their change now." : errorText(error), "danger");
    reread();
  };
  const show = async (next: LoadedRundown): Promise<void> => {
    // A read that started before the change would show the rundown without it.
    await queries.cancelQueries({ queryKey: key });
    queries.setQueryData<LoadedRundown>(key, next);
  };

  const take = useMutation({
    mutationFn: (input: { itemId: string; generation: number; variables?: Variables | undefined }) => {
      const { variables, ...body } = input;
      const sent = { ...body, ...(variables && { variables }) };
      return ok(client.api.POST("/rundown/v1/{id}/take", { params: { path }, body: sent, ...inTime() }));
    },
    onSuccess: (result, { itemId }) => {
      // Of two who press at once, the second gets the first's take, which isn't theirs to undo.
      if (result.itemId === itemId && result.by?.id === account._id) setTaken({ take: result, at: Date.now() });
      else toast(`${result.by?.name ?? "The rundown"} was faster and took “${result.name}”.`);
      if (result.state === "failed") toast(`${result.name}: ${result.message ?? "It failed."}`, "danger");
    },
    onError: failed,
    onSettled: reread,
  });
  const clear = useMutation({
    mutationFn: (body: { takeId?: string; all?: boolean }) =>
      ok(client.api.POST("/rundown/v1/{id}/clear", { params: { path }, body: { all: false, ...body }, ...inTime() })),
    onSuccess: () => setTaken(null),
    onError: failed,
    onSettled: reread,
  });
  const patch = useMutation({
    mutationFn: (body: { armedItemId?: string | null; held?: boolean }) =>
      ok(client.api.PATCH("/rundown/v1/{id}", { params: { path }, body, ...inTime() })),
    onSuccess: (rundown) => show({ item: rundown, etag: current.data?.etag ?? null }),
    onError: failed,
  });
  const edit = useMutation({
    mutationFn: (items: ItemInput[]) => {
      const { name } = current.data?.item ?? { name: "" };
      const etag = current.data?.etag;
      const headers = ifMatch(etag ?? null);
      return loaded(client.api.PUT("/rundown/v1/{id}", { params: { path }, body: { name, items }, headers }));
    },
    onSuccess: show,
    onError: failed,
  });

  // Until the rundown shows what comes next, another press would repeat the take, and the server would answer with the same one.
  const isTaking = take.isPending || (take.isSuccess && take.variables.generation === current.data?.item.generation);
  return { current, taken, take, isTaking, clear, patch, edit, reread };
}

export type Desk = ReturnType<typeof useDesk>;

/** Tells the other operators that this one is here, until the screen closes. */
function usePresence(id: string): void {
  const { client } = useSession();
  const announce = (open: boolean) => ok(client.api.PUT("/rundown/v1/{id}/presence", { params: { path: { id } }, body: { open } }));
  useQuery({ queryKey: ["presence", id], queryFn: () => announce(true), refetchInterval: PRESENCE_MS, refetchIntervalInBackground: true });
  useEffect(
    () => () => {
      // The server notices by itself, half a minute later.
      client.api.PUT("/rundown/v1/{id}/presence", { params: { path: { id } }, body: { open: false } }).catch(() => undefined);
    },
    [client, id],
  );
}
