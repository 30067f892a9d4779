import { type KeyboardEvent, lazy, Suspense, useState } from "react";
import { Button } from "#studio/ui/button.tsx";
import { Icon } from "#studio/ui/icon.tsx";
import { Loading } from "#studio/ui/states.tsx";
import { type Draft, titleOf } from "./draft.ts";
import { EntryFields } from "./entry-fields.tsx";
import { changed, count, type Direction, type Entry, find, inserted, newEntry, shifted, without } from "./tree.ts";

// Trees that can be dragged are larger than the rest of the screen.
const EntryTree = lazy(() => import("./entry-tree.tsx"));

interface Props {
  draft: Draft;
  setDraft: (draft: Draft) => void;
  names: ReadonlyMap<string, string>;
  /** By the entry's key and its field. */
  issues: ReadonlyMap<string, ReadonlyMap<string, string>>;
  isReadOnly: boolean;
}

const KEYS: Readonly<Record<string, Direction>> = { ArrowUp: "up", ArrowDown: "down", ArrowRight: "in", ArrowLeft: "out" };
const MOVES: readonly { direction: Direction; text: string }[] = [
  { direction: "up", text: "Up" },
  { direction: "down", text: "Down" },
  { direction: "in", text: "In" },
  { direction: "out", text: "Out" },
];

/** The menu as a tree, and the fields of the entry that is selected in it. */
export function EntriesCard({ draft, setDraft, names, issues, isReadOnly }: Props) {
  const [selectedKey, setSelectedKey] = useState<string | null>(null);
  const { entries } = draft;
  const selected = selectedKey === null ? null : find(entries, selectedKey);
  const setEntries = (next: readonly Entry[]): void => setDraft({ ...draft, entries: next });
  const move = (direction: Direction): void => {
    const next = selected && shifted(entries, selected.key, direction);
    if (next) setEntries(next);
  };
  const add = (): void => {
    const entry = newEntry(selected && selected.type !== "folder" ? selected.type : "folder");
    setEntries((selected && inserted(entries, entry, selected.key, "after")) ?? [...entries, entry]);
    setSelectedKey(entry.key);
  };
  const onKeyDown = (event: KeyboardEvent): void => {
    const direction = KEYS[event.key];
    if (!event.altKey || direction === undefined || isReadOnly) return;
    // Alt and an arrow to the left is also the browser's way back.
    event.preventDefault();
    event.stopPropagation();
    move(direction);
  };

  return (
    <section className="card navigation-card navigation-entries" aria-labelledby="navigation-entries">
      <div className="navigation-head">
        <h2 id="navigation-entries">Entries</h2>
        <span className="soft">{count(entries)}</span>
        {!isReadOnly && (
          <Button size="small" onPress={add}>
            <Icon name="plus" />
            Add entry
          </Button>
        )}
      </div>
      <div className="navigation-columns">
        <div className="navigation-tree" onKeyDownCapture={onKeyDown}>
          {entries.length === 0 ? (
            <p className="soft">This menu has no entries yet.</p>
          ) : (
            <Suspense fallback={<Loading />}>
              <EntryTree
                entries={entries}
                names={names}
                invalid={new Set(issues.keys())}
                selectedKey={selected?.key ?? null}
                onSelect={setSelectedKey}
                onMove={setEntries}
                isReadOnly={isReadOnly}
              />
            </Suspense>
          )}
        </div>
        {selected ? (
          <div className="navigation-entry" role="group" aria-label={`Entry: ${titleOf(selected, names)}`}>
            <EntryFields
              key={selected.key}
              entry={selected}
              pageName={names.get(selected.pageId)}
              issues={issues.get(selected.key) ?? new Map<string, string>()}
              isReadOnly={isReadOnly}
              onChange={(change) => setEntries(changed(entries, selected.key, change))}
            />
            {!isReadOnly && (
              <div className="navigation-moves">
                {MOVES.map(({ direction, text }) => (
                  <Button
                    key={direction}
                    size="small"
                    isDisabled={shifted(entries, selected.key, direction) === null}
                    onPress={() => move(direction)}
                  >
                    {text}
                  </Button>
                ))}
                <Button size="small" look="quiet" onPress={() => setEntries(without(entries, selected.key))}>
                  Remove
                </Button>
              </div>
            )}
          </div>
        ) : (
          entries.length > 0 && <p className="soft navigation-hint">Select an entry to {isReadOnly ? "see" : "change"} it.</p>
        )}
      </div>
      {!isReadOnly && entries.length > 0 && (
        <p className="soft navigation-help">
          Drag an entry next to another one or onto it, or move it with <kbd>Alt</kbd> and the arrow keys. Up to four levels.
        </p>
      )}
    </section>
  );
}
