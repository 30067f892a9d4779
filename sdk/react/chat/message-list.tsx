import { type FocusEvent, type KeyboardEvent, useCallback, useEffect, useMemo, useRef, useState } from "react";
import { Virtualizer, type VirtualizerHandle } from "virtua";
import type { ChatItem } from "../../chat/state.ts";
import { useChatContext, useChatState } from "./context.tsx";
import { useFollowedEnd } from "./follow-end.ts";
import { Icon } from "./icons.tsx";
import { Outgoing, Skipped } from "./lines.tsx";
import { Message, SystemMessage } from "./message.tsx";
import { useTexts } from "../context.tsx";

interface Props {
  welcome: string | undefined;
  onReply: (messageId: string) => void;
  onMore: (messageId: string) => void;
}

type Row = ChatItem | { kind: "welcome"; key: "welcome" };

const STEPS: Record<string, number> = { ArrowUp: -1, ArrowDown: 1, Home: -Infinity, End: Infinity };

/** The messages: only the visible ones are in the page. It follows new ones until the viewer scrolls up. */
export function MessageList({ welcome, onReply, onMore }: Props) {
  const { t } = useTexts();
  const { chat } = useChatContext();
  const items = useChatState((state) => state.items);
  const unread = useChatState((state) => state.unread);
  const atLatest = useChatState((state) => state.atLatest);
  const hasOlder = useChatState((state) => state.hasOlder);
  const status = useChatState((state) => state.status);
  const handle = useRef<VirtualizerHandle>(null);
  const list = useRef<HTMLDivElement>(null);
  const [active, setActive] = useState<string | null>(null);

  const rows = useMemo<readonly Row[]>(
    () => (welcome === undefined || hasOlder || status === "joining" ? items : [{ kind: "welcome", key: "welcome" }, ...items]),
    [items, welcome, hasOlder, status],
  );
  const shift = useStartChange(rows);
  const activeIndex = rows.findIndex(({ key }) => key === active);

  const onFollow = useCallback((following: boolean) => chat.setFollowing(following), [chat]);
  // A failure is harmless: the next gesture tries again.
  const loadOlder = useCallback(() => void chat.loadOlder().catch(() => undefined), [chat]);
  const end = useFollowedEnd(list, { rows, canFollow: atLatest, onChange: onFollow, onStart: loadOlder });

  useEffect(() => () => chat.setFollowing(true), [chat]);
  // A list that is too short to scroll couldn't request older messages.
  useEffect(() => {
    const { scrollSize = 0, viewportSize = 0 } = handle.current ?? {};
    if (hasOlder && viewportSize > 0 && scrollSize <= viewportSize) loadOlder();
  }, [rows, hasOlder, loadOlder]);

  function showLatest(): void {
    chat.showLatest();
    end.follow();
  }

  /** Arrow keys move between messages; each message's buttons follow with Tab. */
  function move(event: KeyboardEvent<HTMLElement>): void {
    const { key: pressed, shiftKey, target } = event;
    if (pressed === "PageUp" || (pressed === " " && shiftKey)) return end.leave();
    const step = STEPS[pressed];
    if (step === undefined || !(target instanceof HTMLElement) || target.closest("button, a")) return;
    const from = activeIndex < 0 ? rows.length : activeIndex;
    const index = Math.min(rows.length - 1, Math.max(0, from + step));
    const key = rows[index]?.key;
    if (key === undefined) return;
    event.preventDefault();
    setActive(key);
    if (index < rows.length - 1) end.leave();
    else if (atLatest) end.follow();
    handle.current?.scrollToIndex(index, { align: "nearest" });
    requestAnimationFrame(() => rowOf(list.current, key)?.focus({ preventScroll: true }));
  }

  /** Somebody who moves the focus to an earlier message with the keyboard reads it. */
  function focus(key: string, { target }: FocusEvent<HTMLElement>): void {
    setActive(key);
    if (key !== rows.at(-1)?.key && target.matches(":focus-visible")) end.leave();
  }

  const lastKey = rows.at(-1)?.key;
  const tabStop = activeIndex < 0 ? lastKey : active;
  return (
    <div className="tifo-chat-messages" {...end.gestures} onKeyDown={move}>
      {rows.length === 0 && (
        <p className="tifo-chat-empty">{status === "joining" ? t("Joining the chat…") : t("Nobody has written yet. Say hello!")}</p>
      )}
      <div ref={list} className="tifo-chat-list" role="log" aria-label={t("Messages")} aria-live="off">
        <Virtualizer
          ref={handle}
          data={rows}
          shift={shift}
          itemSize={44}
          keepMounted={activeIndex < 0 ? [] : [activeIndex]}
          onScroll={end.onScroll}
          onResize={end.onResize}
        >
          {(row: Row) => (
            <div
              key={row.key}
              className="tifo-chat-row"
              data-key={row.key}
              tabIndex={row.key === tabStop ? 0 : -1}
              onFocus={(event) => focus(row.key, event)}
            >
              <RowContent row={row} welcome={welcome ?? ""} onReply={onReply} onMore={onMore} />
            </div>
          )}
        </Virtualizer>
      </div>
      {(!end.following || !atLatest) && (
        <button type="button" className="tifo-chat-latest" onClick={showLatest}>
          <Icon name="down" />
          {unread === 0 ? t("Latest messages") : t("{count, plural, one {# new message} other {# new messages}}", { count: unread })}
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

function rowOf(box: HTMLElement | null, key: string): HTMLElement | undefined {
  return [...(box?.querySelectorAll<HTMLElement>(".tifo-chat-row") ?? [])].find((row) => row.dataset.key === key);
}
