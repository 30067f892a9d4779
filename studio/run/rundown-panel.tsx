import { type KeyboardEvent, lazy, Suspense, useState } from "react";
import { Button } from "#studio/ui/button.tsx";
import { Icon } from "#studio/ui/icon.tsx";
import { Empty, Loading } from "#studio/ui/states.tsx";
import type { Item, ItemInput } from "./model.ts";
import { copyOf, isSameOrder, moveBy, withoutItem } from "./reorder.ts";
import type { Desk } from "./use-desk.ts";
import { useNow } from "#studio/ui/use-now.ts";

// The list with its drag and drop is as large as the rest of the screen.
const ItemList = lazy(() => import("./item-list.tsx"));
// Dialogs are a third of the screen's size, and not part of the show.
const ItemDialog = lazy(() => import("./item-dialog.tsx"));

interface Props {
  desk: Desk;
  canWrite: boolean;
}

/** With Alt. */
const STEPS: Partial<Record<string, number>> = { ArrowUp: -1, ArrowDown: 1 };

type Editing = { item: Item | null };

/** The rundown: its items, and what can be done with the selected one. */
export function RundownPanel({ desk, canWrite }: Props) {
  const now = useNow(1_000);
  const [selectedId, setSelectedId] = useState<string | null>(null);
  const [editing, setEditing] = useState<Editing | null>(null);
  const rundown = desk.current.data?.item;
  if (!rundown) return null;
  const { items, armedItemId } = rundown;
  const index = items.findIndex(({ _id }) => _id === selectedId);
  const selected = items[index];
  const save = (next: ItemInput[]): void => desk.edit.mutate(next);
  const move = (next: Item[]): void => {
    if (!isSameOrder(items, next)) save(next);
  };

  function duplicate(item: Item): void {
    save([...items.slice(0, index + 1), copyOf(item), ...items.slice(index + 1)]);
  }

  /** Keys of the selected item, besides those of the list itself. */
  function press(event: KeyboardEvent): void {
    if (!canWrite || !selected) return;
    const places = event.altKey ? STEPS[event.key] : undefined;
    if (places !== undefined) move(moveBy(items, selected._id, places));
    else if (event.key === "Delete") save(withoutItem(items, selected._id));
    else return;
    event.preventDefault();
    event.stopPropagation();
  }

  return (
    <>
      {items.length === 0 ? (
        <Empty title="The rundown is empty." icon="list">
          Add what happens in the show: overlays, polls, waits and notes.
        </Empty>
      ) : (
        <div className="rundown-keys" onKeyDownCapture={press}>
          <Suspense fallback={<Loading label="Loading the items…" />}>
            <ItemList
              rundown={rundown}
              now={now}
              canWrite={canWrite}
              selectedId={selected?._id ?? null}
              onSelect={setSelectedId}
              onMove={move}
              onOpen={(id) => canWrite && setEditing({ item: items.find(({ _id }) => _id === id) ?? null })}
            />
          </Suspense>
        </div>
      )}
      {canWrite && (
        <div className="rundown-actions" role="toolbar" aria-label="Items">
          <Button look="primary" size="small" onPress={() => setEditing({ item: null })}>
            <Icon name="plus" />
            Add item
          </Button>
          {selected && (
            <>
              <Button
                size="small"
                aria-pressed={armedItemId === selected._id}
                onPress={() => desk.patch.mutate({ armedItemId: armedItemId === selected._id ? null : selected._id })}
              >
                {armedItemId === selected._id ? "Disarm" : "Arm"}
              </Button>
              <Button size="small" onPress={() => setEditing({ item: selected })}>
                Edit
              </Button>
              <Button size="small" onPress={() => duplicate(selected)}>
                Duplicate
              </Button>
              <Button size="small" aria-label="Move up" isDisabled={index === 0} onPress={() => move(moveBy(items, selected._id, -1))}>
                ↑
              </Button>
              <Button
                size="small"
                aria-label="Move down"
                isDisabled={index === items.length - 1}
                onPress={() => move(moveBy(items, selected._id, 1))}
              >
                ↓
              </Button>
              <Button size="small" look="quiet" onPress={() => save(withoutItem(items, selected._id))}>
                Delete
              </Button>
            </>
          )}
        </div>
      )}
      {editing && (
        <Suspense>
          <ItemDialog
            item={editing.item}
            onClose={() => setEditing(null)}
            onSave={(input) => {
              const at = items.findIndex(({ _id }) => _id === editing.item?._id);
              save(at === -1 ? [...items, input] : items.map((item, position) => (position === at ? input : item)));
              setEditing(null);
            }}
          />
        </Suspense>
      )}
    </>
  );
}
