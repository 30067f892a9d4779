import { type ReactNode, useState } from "react";
import { useNow } from "#studio/ui/use-now.ts";
import { useSession } from "#studio/session/context.tsx";
import { BanDialog } from "./ban-dialog.tsx";
import { ago, causeOf, type Entry, selectionAfter, step } from "./desk.ts";
import { EntryList } from "./entry-list.tsx";
import { MessageDetail } from "./message-detail.tsx";
import { UndoBar } from "./undo-bar.tsx";
import type { ChatDecisions } from "./use-chat.ts";
import { useShortcuts } from "./use-shortcuts.ts";

interface Props {
  label: string;
  entries: readonly Entry[];
  decisions: ChatDecisions;
  /** Null if all entries are of one channel. */
  channelName: ((channelId: string) => string) | null;
  /** In place of an empty list. */
  empty: ReactNode;
  note: string | null;
}

/** A list of messages, the selected one with its context, and what can be done about it, each with its key. */
export function MessageDesk({ label, entries, decisions, channelName, empty, note }: Props) {
  const { access } = useSession();
  const now = useNow(10_000);
  const [banning, setBanning] = useState<Entry | null>(null);
  const ids = entries.map(({ _id }) => _id);
  const [selectedId, select] = useSelection(ids);
  const entry = entries.find(({ _id }) => _id === selectedId);
  const canDecide = entry !== undefined && access.moderates("Chat_Moderator", entry.channelId, "write");
  const canApprove = canDecide && (entry.state === "held" || (entry.reports?.length ?? 0) > 0);
  const canRemove = canDecide && entry.state !== "removed";
  const canBan = canDecide && entry.accountId !== null;
  const approve = (): void => void (entry && decisions.decide(entry, "approve"));
  const remove = (): void => void (entry && decisions.decide(entry, "reject"));
  const { undo } = decisions;
  useShortcuts({
    A: canApprove ? approve : undefined,
    R: canRemove ? remove : undefined,
    B: canBan ? () => setBanning(entry) : undefined,
    U: undo?.label ? () => void undo.run() : undefined,
    J: () => select(step(ids, selectedId, 1)),
    K: () => select(step(ids, selectedId, -1)),
  });

  return (
    <>
      <UndoBar undo={undo} />
      {!entry && empty}
      {entry && (
        <div className="message-desk">
          <div className="card message-list">
            <EntryList label={label} entries={entries} selectedId={selectedId} onSelect={select}>
              {(one) => (
                <>
                  <span className="message-line">
                    <strong className="message-name">{one.name}</strong>
                    <time className="soft">{ago(one.sentAt, now)}</time>
                  </span>
                  <span className="message-excerpt" data-state={one.state}>
                    {one.original ?? one.text}
                  </span>
                  <span className="message-line">
                    <State entry={one} />
                    {channelName && <span className="soft">{channelName(one.channelId)}</span>}
                  </span>
                </>
              )}
            </EntryList>
            {note !== null && <p className="soft message-note">{note}</p>}
          </div>
          <MessageDetail
            key={entry._id}
            entry={entry}
            channelName={channelName?.(entry.channelId) ?? null}
            can={{ approve: canApprove, remove: canRemove, ban: canBan }}
            onApprove={approve}
            onRemove={remove}
            onBan={() => setBanning(entry)}
          />
        </div>
      )}
      {banning && <BanDialog entry={banning} decisions={decisions} onClose={() => setBanning(null)} />}
    </>
  );
}

function State({ entry }: { entry: Entry }) {
  const cause = entry.state === "removed" ? "Removed" : causeOf(entry);
  return (
    <>
      {cause !== null && (
        <span className="chip" data-tone={entry.state === "removed" ? "danger" : "warning"}>
          {cause}
        </span>
      )}
      {entry.muted === true && <span className="chip">Muted</span>}
    </>
  );
}

/** The selected entry, which follows the list as it changes. */
export function useSelection(ids: readonly string[]): [string | null, (id: string | null) => void] {
  const [state, setState] = useState<{ ids: readonly string[]; selected: string | null }>({ ids, selected: ids[0] ?? null });
  const selected = selectionAfter(state.ids, ids, state.selected);
  // The previous list is needed as long as the selection depends on it.
  if (selected !== state.selected || ids.join() !== state.ids.join()) setState({ ids, selected });
  return [selected, (id) => setState({ ids, selected: id })];
}
