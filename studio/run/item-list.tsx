import { useDragAndDrop } from "react-aria-components/useDragAndDrop";
import { ListBox, ListBoxItem } from "react-aria-components/ListBox";
import { countdown, type ItemState, STATE_NAMES, stateOf } from "./desk.ts";
import type { Item, Rundown } from "./model.ts";
import { moveItems } from "./reorder.ts";
import "./item-list.css";

interface Props {
  rundown: Rundown;
  now: number;
  canWrite: boolean;
  selectedId: string | null;
  onSelect: (id: string | null) => void;
  onMove: (items: Item[]) => void;
  /** Enter or a double click. */
  onOpen: (id: string) => void;
}

/** The steps of the show, which can be dragged. Alt+Enter picks one up for those who use the keyboard or a screen reader. */
export default function ItemList({ rundown, now, canWrite, selectedId, onSelect, onMove, onOpen }: Props) {
  const { items } = rundown;
  const { dragAndDropHooks } = useDragAndDrop({
    isDisabled: !canWrite,
    getItems: (keys) => [...keys].map((key) => ({ "text/plain": items.find(({ _id }) => _id === key)?.name ?? "" })),
    onReorder({ keys, target }) {
      const ids = new Set([...keys].map(String));
      if (target.dropPosition !== "on") onMove(moveItems(items, ids, String(target.key), target.dropPosition));
    },
  });
  return (
    <ListBox
      aria-label="Items"
      className="rundown-items"
      items={items.map((item, index) => ({ id: item._id, item, number: index + 1, state: stateOf(rundown, item, now) }))}
      dependencies={[rundown, now, selectedId]}
      selectionMode="single"
      selectionBehavior="replace"
      selectedKeys={selectedId === null ? [] : [selectedId]}
      onSelectionChange={(keys) => onSelect(keys === "all" ? null : String([...keys][0] ?? "") || null)}
      onAction={(key) => onOpen(String(key))}
      dragAndDropHooks={dragAndDropHooks}
    >
      {({ item, number, state }) => (
        <ListBoxItem id={item._id} textValue={item.name} className="rundown-item" data-state={state ?? ""}>
          <span className="rundown-number" aria-hidden="true">
            {number}
          </span>
          <span className="rundown-body">
            <span className="rundown-line">
              <span className="rundown-name">{item.name}</span>
              {state && <span className="rundown-state">{STATE_NAMES[state]}</span>}
              {rundown.brokenItemIds.includes(item._id) && <span className="rundown-broken">{NEEDS[item.kind]} deleted</span>}
            </span>
            <span className="rundown-detail">{detailsOf(item, rundown, state, now).join(" · ")}</span>
            {item.notes !== "" && <span className="rundown-notes">{item.notes}</span>}
          </span>
        </ListBoxItem>
      )}
    </ListBox>
  );
}

const KINDS: Record<Item["kind"], string> = {
  broadcast: "Overlay",
  poll: "Poll",
  quest: "Quest",
  raffle: "Raffle",
  stream: "Stream",
  wait: "Wait",
  note: "Note",
};

/** What an item can't be taken without. */
const NEEDS: Record<Item["kind"], string> = { ...KINDS, raffle: "Quest" };

function detailsOf(item: Item, { onAir, waitsUntil }: Rundown, state: ItemState, now: number): string[] {
  const shown = onAir.find(({ itemId, endsAt }) => itemId === item._id && (endsAt ?? 0) > now);
  const left = countdown(state === "waiting" ? waitsUntil : (shown?.endsAt ?? null), now);
  return [kindOf(item), ...(item.at === null ? [] : [`at ${timeOf(item.at)}`]), ...(left === null ? [] : [`${left} left`])];
}

function kindOf(item: Item): string {
  switch (item.kind) {
    case "poll":
    case "quest":
    case "stream":
      return `${KINDS[item.kind]}, ${item.action}`;
    case "wait":
      return `Wait, ${item.seconds} s`;
    case "raffle":
      return `Raffle, ${item.winners} ${item.winners === 1 ? "winner" : "winners"}`;
    case "broadcast":
    case "note":
      return KINDS[item.kind];
  }
}

const TIME = new Intl.DateTimeFormat("en-GB", { timeStyle: "medium" });

function timeOf(at: number): string {
  return TIME.format(at);
}
