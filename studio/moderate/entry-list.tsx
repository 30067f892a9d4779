import { type KeyboardEvent, type ReactNode, useEffect, useId, useRef } from "react";
import { step } from "./desk.ts";

interface Props<Entry extends { _id: string }> {
  label: string;
  entries: readonly Entry[];
  selectedId: string | null;
  onSelect: (id: string) => void;
  children: (entry: Entry) => ReactNode;
}

/** A list of which one entry is selected. The focus stays on the list, so that an entry that leaves it doesn't take the focus with it. */
export function EntryList<Entry extends { _id: string }>({ label, entries, selectedId, onSelect, children }: Props<Entry>) {
  const id = useId();
  const list = useRef<HTMLDivElement>(null);
  useEffect(() => {
    list.current?.querySelector("[aria-selected=true]")?.scrollIntoView({ block: "nearest" });
  }, [selectedId]);

  function press(event: KeyboardEvent): void {
    const ids = entries.map(({ _id }) => _id);
    const places: Partial<Record<string, number>> = { ArrowUp: -1, ArrowDown: 1, Home: -ids.length, End: ids.length };
    const next = step(ids, selectedId, places[event.key] ?? 0);
    if (places[event.key] === undefined || next === null) return;
    event.preventDefault();
    onSelect(next);
  }

  return (
    <div
      ref={list}
      role="listbox"
      aria-label={label}
      aria-activedescendant={selectedId === null ? undefined : id + selectedId}
      tabIndex={0}
      className="messages"
      onKeyDown={press}
    >
      {entries.map((entry) => (
        <div
          key={entry._id}
          role="option"
          id={id + entry._id}
          className="message-item"
          aria-selected={entry._id === selectedId}
          onClick={() => onSelect(entry._id)}
        >
          {children(entry)}
        </div>
      ))}
    </div>
  );
}
