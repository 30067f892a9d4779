import { useMemo, useState } from "react";
import { Button } from "react-aria-components/Button";
import { Collection } from "react-aria-components/Collection";
import { Tree, TreeItem, TreeItemContent } from "react-aria-components/Tree";
import { useDragAndDrop } from "react-aria-components/useDragAndDrop";
import { Icon } from "#studio/ui/icon.tsx";
import { titleOf } from "./draft.ts";
import { type Entry, moved } from "./tree.ts";

interface Props {
  entries: readonly Entry[];
  names: ReadonlyMap<string, string>;
  /** The keys of those that the server objects to. */
  invalid: ReadonlySet<string>;
  selectedKey: string | null;
  onSelect: (key: string | null) => void;
  onMove: (entries: Entry[]) => void;
  isReadOnly: boolean;
}

interface Row {
  id: string;
  entry: Entry;
  children: Row[];
}

/** The entries, which can be dragged to another place. Enter on a handle picks an entry up for those who use the keyboard. */
export default function EntryTree({ entries, names, invalid, selectedKey, onSelect, onMove, isReadOnly }: Props) {
  const rows = useMemo(() => rowsOf(entries), [entries]);
  // Everything is open unless somebody has closed it.
  const [closed, setClosed] = useState<ReadonlySet<string>>(new Set());
  const expanded = useMemo(() => parentKeysOf(entries).filter((key) => !closed.has(key)), [entries, closed]);
  const { dragAndDropHooks } = useDragAndDrop<Row>({
    isDisabled: isReadOnly,
    getItems: (keys) => [...keys].map((key) => ({ "text/plain": String(key) })),
    onMove({ keys, target }) {
      const [key] = keys;
      const next = moved(entries, String(key), String(target.key), target.dropPosition);
      if (next) onMove(next);
    },
  });
  const renderRow = ({ id, entry, children }: Row) => (
    <TreeItem key={id} id={id} textValue={titleOf(entry, names)} className="navigation-row">
      <TreeItemContent>
        {({ level }) => (
          <span className="navigation-line" style={{ paddingInlineStart: `${String(level - 1)}rem` }}>
            {children.length > 0 ? (
              <Button slot="chevron" className="navigation-chevron">
                <Icon name="chevron" />
              </Button>
            ) : (
              <span className="navigation-chevron" />
            )}
            {!isReadOnly && (
              <Button slot="drag" className="navigation-handle">
                <span aria-hidden="true">⠿</span>
              </Button>
            )}
            <span className="navigation-name">{titleOf(entry, names)}</span>
            {entry.private && <span className="badge">Private</span>}
            {invalid.has(id) && <span className="badge navigation-invalid">Not right yet</span>}
            <span className="soft navigation-type">{TYPES[entry.type]}</span>
          </span>
        )}
      </TreeItemContent>
      <Collection items={children}>{renderRow}</Collection>
    </TreeItem>
  );
  return (
    <Tree
      aria-label="Entries"
      className="navigation-rows"
      items={rows}
      dependencies={[names, invalid, isReadOnly]}
      selectionMode="single"
      selectionBehavior="replace"
      selectedKeys={selectedKey === null ? [] : [selectedKey]}
      onSelectionChange={(keys) => onSelect(keys === "all" ? null : String([...keys][0] ?? "") || null)}
      expandedKeys={expanded}
      onExpandedChange={(keys) => setClosed(new Set(parentKeysOf(entries).filter((key) => !keys.has(key))))}
      dragAndDropHooks={dragAndDropHooks}
    >
      {renderRow}
    </Tree>
  );
}

const TYPES: Record<Entry["type"], string> = { channel: "Channel", landing: "Landing page", folder: "Folder" };

function rowsOf(entries: readonly Entry[]): Row[] {
  return entries.map((entry) => ({ id: entry.key, entry, children: rowsOf(entry.children) }));
}

function parentKeysOf(entries: readonly Entry[]): string[] {
  return entries.flatMap(({ key, children }) => (children.length === 0 ? [] : [key, ...parentKeysOf(children)]));
}
