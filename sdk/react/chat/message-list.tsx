import { type KeyboardEvent, type RefObject, useCallback, useEffect, useLayoutEffect, useMemo, useRef, useState } from "react";
import { VList, type VListHandle } from "virtua";
import type { ChatItem } from "../../chat/state.ts";
import { useChatContext, useChatState } from "./context.tsx";
import { Icon } from "./icons.tsx";
import { Outgoing, Skipped } from "./lines.tsx";
import { Message, SystemMessage } from "./message.tsx";

interface Props {
  welcome: string | undefined;
  onReply: (messageId: string) => void;
  onMore: (messageId: string) => void;
}

type Row = ChatItem | { kind: "welcome"; key: "welcome" };

// Pixels from the end within which the list follows new messages.
const NEAR_END = 48;
const NEAR_START = 240;
const SETTLING_FRAMES = 12;
// A scroll soon after one of these is the viewer's own, and not a change of sizes.
const OWN_SCROLL_MS = 800;
const STEPS: Record<string, number> = { ArrowUp: -1, ArrowDown: 1, Home: -Infinity, End: Infinity };

/** The messages: only the visible ones are in the page. It follows new ones until the viewer scrolls up. */
export function MessageList({ welcome, onReply, onMore }: Props) {
  const { chat } = useChatContext();
  const items = useChatState((state) => state.items);
  const unread = useChatState((state) => state.unread);
  const atLatest = useChatState((state) => state.atLatest);
  const hasOlder = useChatState((state) => state.hasOlder);
  const status = useChatState((state) => state.status);
  const list = useRef<VListHandle>(null);
  const box = useRef<HTMLDivElement>(null);
  const ownScrollAt = useRef(-OWN_SCROLL_MS);
  const [following, setFollowing] = useState(true);
  const [active, setActive] = useState<string | null>(null);

  const rows = useMemo<readonly Row[]>(
    () => (welcome === undefined || hasOlder || status === "joining" ? items : [{ kind: "welcome", key: "welcome" }, ...items]),
    [items, welcome, hasOlder, status],
  );
  const shift = useStartChange(rows);
  const activeIndex = rows.findIndex(({ key }) => key === active);

  const follow = useCallback(
    (next: boolean) => {
      setFollowing(next);
      chat.setFollowing(next);
    },
    [chat],
  );

  useLayoutEffect(() => {
    if (following && rows.length > 0) list.current?.scrollToIndex(rows.length - 1, { align: "end" });
  }, [rows, following]);
  useEffect(() => (following ? keepAtEnd(list) : undefined), [rows, following]);
  useEffect(() => () => chat.setFollowing(true), [chat]);
  // A list that is too short to scroll couldn't request older messages.
  useEffect(() => {
    const { scrollSize = 0, viewportSize = 0 } = list.current ?? {};
    if (hasOlder && viewportSize > 0 && scrollSize <= viewportSize) loadOlder();
  }, [rows, hasOlder]);

  /** A failure is harmless: the next scroll tries again. */
  function loadOlder(): void {
    void chat.loadOlder().catch(() => undefined);
  }

  function onScroll(offset: number): void {
    const handle = list.current;
    if (!handle) return;
    const isNearEnd = offset + handle.viewportSize >= handle.scrollSize - NEAR_END;
    const isOwn = performance.now() - ownScrollAt.current < OWN_SCROLL_MS;
    if (isOwn && isNearEnd !== following) follow(isNearEnd && atLatest);
    if (isOwn && offset < NEAR_START) loadOlder();
  }

  function showLatest(): void {
    chat.showLatest();
    follow(true);
  }

  /** Arrow keys move between messages; each message's buttons follow with Tab. */
  function move(event: KeyboardEvent<HTMLElement>): void {
    markOwnScroll();
    const step = STEPS[event.key];
    if (step === undefined || !(event.target instanceof HTMLElement) || event.target.closest("button, a")) return;
    const from = activeIndex < 0 ? rows.length : activeIndex;
    const index = Math.min(rows.length - 1, Math.max(0, from + step));
    const key = rows[index]?.key;
    if (key === undefined) return;
    event.preventDefault();
    setActive(key);
    if (index < rows.length - 1) follow(false);
    list.current?.scrollToIndex(index, { align: "nearest" });
    requestAnimationFrame(() => rowOf(box.current, key)?.focus({ preventScroll: true }));
  }

  function markOwnScroll(): void {
    ownScrollAt.current = performance.now();
  }

  const lastKey = rows.at(-1)?.key;
  const tabStop = activeIndex < 0 ? lastKey : active;
  return (
    <div
      className="tifo-chat-messages"
      ref={box}
      onWheel={markOwnScroll}
      onTouchMove={markOwnScroll}
      onPointerDown={markOwnScroll}
      onKeyDown={move}
    >
      {rows.length === 0 && (
        <p className="tifo-chat-empty">{status === "joining" ? "Joining the chat…" : "Nobody has written yet. Say hello!"}</p>
      )}
      <VList
        ref={list}
        data={rows}
        shift={shift}
        itemSize={44}
        className="tifo-chat-list"
        role="log"
        aria-label="Messages"
        aria-live="off"
        keepMounted={activeIndex < 0 ? [] : [activeIndex]}
        onScroll={onScroll}
      >
        {(row: Row) => (
          <div
            key={row.key}
            className="tifo-chat-row"
            data-key={row.key}
            tabIndex={row.key === tabStop ? 0 : -1}
            onFocus={() => setActive(row.key)}
          >
            <RowContent row={row} welcome={welcome ?? ""} onReply={onReply} onMore={onMore} />
          </div>
        )}
      </VList>
      {(!following || !atLatest) && (
        <button type="button" className="tifo-chat-latest" onClick={showLatest}>
          <Icon name="down" />
          {unread === 0 ? "Latest messages" : unread === 1 ? "1 new message" : `${unread.toLocaleString()} new messages`}
        </button>
      )}
    </div>
  );
}

interface RowContentProps extends Omit<Props, "welcome"> {
  row: Row;
  welcome: string;
}

function RowContent({ row, welcome, onReply, onMore }: RowContentProps) {
  switch (row.kind) {
    case "welcome":
      return <SystemMessage text={welcome} />;
    case "skipped":
      return <Skipped count={row.count} />;
    case "outgoing":
      return <Outgoing item={row} />;
    case "message":
      return row.message.system ? (
        <SystemMessage text={row.message.translation?.text ?? row.message.text ?? ""} />
      ) : (
        <Message message={row.message} onReply={onReply} onMore={onMore} />
      );
  }
}

/** Whether rows were added or removed at the start of the list, so that the scroll position is kept from its end. */
function useStartChange(rows: readonly Row[]): boolean {
  const previous = useRef<{ rows: readonly Row[]; shift: boolean }>({ rows, shift: false });
  if (previous.current.rows !== rows) {
    const first = previous.current.rows[0]?.key;
    const isSameStart = first === undefined || rows[0]?.key === first;
    previous.current = { rows, shift: !isSameStart };
  }
  return previous.current.shift;
}

/** The sizes of new rows are known only once they are in the page, so the end moves for a few frames. */
function keepAtEnd(list: RefObject<VListHandle | null>): () => void {
  let frames = SETTLING_FRAMES;
  let request = requestAnimationFrame(function stick() {
    const { current } = list;
    if (current && current.scrollOffset + current.viewportSize < current.scrollSize - 1) current.scrollTo(current.scrollSize);
    if (--frames > 0) request = requestAnimationFrame(stick);
  });
  return () => cancelAnimationFrame(request);
}

function rowOf(box: HTMLElement | null, key: string): HTMLElement | undefined {
  return [...(box?.querySelectorAll<HTMLElement>(".tifo-chat-row") ?? [])].find((row) => row.dataset.key === key);
}
