import { keepPreviousData, useQuery, useQueryClient } from "@tanstack/react-query";
import { useCallback, useEffect, useState } from "react";
import { done, ok, TifoProblem, type TifoClient } from "#sdk/client/index.ts";
import { useSession } from "#studio/session/context.tsx";
import { errorText } from "#studio/ui/states.tsx";
import { toast } from "#studio/ui/toast.tsx";
import { around, type BanInput, type Entry } from "./desk.ts";
import { rememberNames } from "./names.ts";

/** How soon what others have sent or decided shows. */
export const LIVE_MS = 2_000;
const UNDO_MS = 15_000;
/** Entries that are read at once; the next ones follow as these are decided on. */
export const QUEUE_LIMIT = 100;
const CONTEXT = 6;
/** How far back a message without a position in the room is looked for. */
const CONTEXT_PAGES = 5;

/** The messages that wait, longest first, of one channel or of all that the account moderates. */
export function useQueue(channelId: string | null, isEnabled: boolean) {
  const { client } = useSession();
  return useQuery({
    queryKey: ["chat-queue", channelId],
    queryFn: async () => {
      const query = { limit: QUEUE_LIMIT, ...(channelId !== null && { channelIds: channelId }) };
      const { results, next } = await ok(client.api.GET("/chat/v1/queue", { params: { query } }));
      rememberNames(results);
      return { entries: results satisfies Entry[], hasMore: next !== null };
    },
    enabled: isEnabled,
    refetchInterval: LIVE_MS,
    staleTime: 0,
  });
}

/** The latest messages of a channel, newest first. */
export function useRoom(channelId: string) {
  const { client } = useSession();
  return useQuery({
    queryKey: ["chat-room", channelId],
    queryFn: () => messagesOf(client, channelId, { limit: 100 }),
    refetchInterval: LIVE_MS,
    staleTime: 0,
  });
}

/** What was sent before and after a message. */
export function useSurroundings(entry: Entry) {
  const { client } = useSession();
  return useQuery({
    queryKey: ["chat-context", entry.channelId, entry._id],
    queryFn: () => surroundings(client, entry),
    refetchInterval: 2 * LIVE_MS,
    placeholderData: keepPreviousData,
  });
}

async function surroundings(client: TifoClient, { channelId, _id, chatSeq }: Entry): Promise<Entry[]> {
  if (chatSeq !== null) {
    const page = await messagesOf(client, channelId, { limit: 3 * CONTEXT, before: chatSeq + CONTEXT + 1 });
    return around(page, _id, CONTEXT);
  }
  // A held message has no position yet; it is on the page of those that were sent when it was.
  let found: Entry[] = [];
  let before: number | undefined;
  for (let pages = 0; pages < CONTEXT_PAGES; pages++) {
    const page = await messagesOf(client, channelId, { limit: 100, ...(before !== undefined && { before }) });
    found = [...found, ...page];
    const oldest = page.findLast((message) => message.chatSeq !== null)?.chatSeq;
    if (typeof oldest !== "number" || oldest <= 1 || found.some((message) => message._id === _id)) break;
    before = oldest;
  }
  return around(found, _id, CONTEXT);
}

async function messagesOf(client: TifoClient, channelId: string, query: { limit: number; before?: number }): Promise<Entry[]> {
  const { results } = await ok(client.api.GET("/chat/v1/{channelId}/messages", { params: { path: { channelId }, query } }));
  rememberNames(results);
  return results.map((message) => ({ ...message, channelId }));
}

/** The way back from what was just done. */
export interface Undo {
  done: string;
  /** What the way back does; null if there is none. */
  label: string | null;
  run: () => Promise<void>;
}

/** The decisions on messages. What was decided on leaves the lists at once. */
export function useChatDecisions() {
  const { client } = useSession();
  const queries = useQueryClient();
  const [decided, setDecided] = useState<ReadonlySet<string>>(new Set());
  const [undo, setUndo] = useState<Undo | null>(null);
  useEffect(() => {
    if (!undo) return;
    const timer = setTimeout(() => setUndo(null), UNDO_MS);
    return () => clearTimeout(timer);
  }, [undo]);

  const reread = useCallback(async () => {
    await Promise.all(
      ["chat-queue", "chat-room", "chat-context", "chat-bans"].map((key) => queries.invalidateQueries({ queryKey: [key] })),
    );
  }, [queries]);

  const put = ({ channelId, _id }: Entry, decision: "approve" | "reject") =>
    ok(client.api.PUT("/chat/v1/{channelId}/messages/{id}", { params: { path: { channelId, id: _id } }, body: { decision } }));

  async function decide(entry: Entry, decision: "approve" | "reject"): Promise<void> {
    setDecided((known) => new Set([...known, entry._id]));
    try {
      await put(entry, decision);
      setUndo({
        done: decision === "approve" ? `Approved the message of ${entry.name}` : `Removed the message of ${entry.name}`,
        label: decision === "approve" ? "Remove it after all" : null,
        run: () => decide(entry, "reject"),
      });
    } catch (error) {
      setDecided((known) => new Set([...known].filter((id) => id !== entry._id)));
      const isLate = error instanceof TifoProblem && (error.status === 404 || error.status === 409);
      toast(isLate ? "Somebody else has decided on this message." : errorText(error), "danger");
    }
    await reread();
  }

  async function ban(entry: Entry, input: BanInput, removes: boolean): Promise<boolean> {
    try {
      const { _id } = await ok(client.api.POST("/chat/v1/bans", { body: input }));
      if (removes) await decide(entry, "reject");
      setUndo({
        done: `${input.kind === "ban" ? "Banned" : "Muted"} ${entry.name}`,
        label: input.kind === "ban" ? "Lift the ban" : "Lift the mute",
        run: () => lift(_id),
      });
    } catch (error) {
      toast(errorText(error), "danger");
      return false;
    }
    await reread();
    return true;
  }

  async function lift(id: string): Promise<void> {
    try {
      await done(client.api.DELETE("/chat/v1/bans/{id}", { params: { path: { id } } }));
      toast("It has been lifted.");
    } catch (error) {
      toast(errorText(error), "danger");
    }
    setUndo(null);
    await reread();
  }

  return { decided, undo, decide, ban, lift };
}

export type ChatDecisions = ReturnType<typeof useChatDecisions>;
