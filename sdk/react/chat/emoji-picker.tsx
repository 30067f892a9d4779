import { type KeyboardEvent, useEffect, useRef, useState } from "react";
import { activeElementFor } from "../active-element.ts";
import { useLoaded } from "../use-loaded.ts";
import { useChatContext } from "./context.tsx";
import { type EmojiGroup, loadEmoji } from "./load-emoji.ts";
import { useTexts } from "../context.tsx";

const MAX_FOUND = 60;

interface Props {
  onPick: (emoji: string) => void;
  onClose: () => void;
}

/** A grid of emoji by group, with a search. Its list is loaded from the deployment when it first opens. */
export function EmojiPicker({ onPick, onClose }: Props) {
  const { t } = useTexts();
  const { sdk } = useChatContext();
  const groups = useLoaded("emoji", () => loadEmoji(sdk.session.origin));
  return (
    <div className="tifo-chat-picker" role="group" aria-label={t("Emoji")} onKeyDown={({ key }) => key === "Escape" && onClose()}>
      {groups.state === "loading" && <p className="tifo-chat-note">{t("Loading…")}</p>}
      {groups.state === "failed" && (
        <p className="tifo-chat-note" role="alert">
          {t("The emoji couldn’t be loaded.")}{" "}
          <button type="button" className="tifo-chat-textbutton" onClick={groups.retry}>
            {t("Try again")}
          </button>
        </p>
      )}
      {groups.state === "loaded" && <Grid groups={groups.value} onPick={onPick} />}
    </div>
  );
}

function Grid({ groups, onPick }: { groups: readonly EmojiGroup[]; onPick: (emoji: string) => void }) {
  const { t } = useTexts();
  const [search, setSearch] = useState("");
  const [group, setGroup] = useState(0);
  const input = useRef<HTMLInputElement>(null);
  useEffect(() => input.current?.focus(), []);
  const wanted = search.trim().toLowerCase();
  const all = wanted === "" ? (groups[group]?.emoji ?? []) : groups.flatMap(({ emoji }) => emoji);
  const shown = wanted === "" ? all : all.filter(([, words]) => words.includes(wanted)).slice(0, MAX_FOUND);
  return (
    <>
      <input
        ref={input}
        type="search"
        value={search}
        placeholder={t("Search emoji")}
        aria-label={t("Search emoji")}
        onChange={({ target }) => setSearch(target.value)}
      />
      <div className="tifo-chat-groups" role="group" aria-label={t("Groups")} hidden={wanted !== ""}>
        {groups.map(({ name, emoji }, index) => (
          <button key={name} type="button" aria-label={name} aria-pressed={index === group} onClick={() => setGroup(index)}>
            {emoji[0]?.[0]}
          </button>
        ))}
      </div>
      <div className="tifo-chat-grid" onKeyDown={moveInGrid}>
        {shown.map(([emoji, words], index) => (
          <button key={emoji} type="button" tabIndex={index === 0 ? 0 : -1} aria-label={words.split("|")[0]} onClick={() => onPick(emoji)}>
            {emoji}
          </button>
        ))}
        {shown.length === 0 && <p className="tifo-chat-note">{t("No emoji found.")}</p>}
      </div>
    </>
  );
}

/** Arrow keys move within the grid, which is one stop of the Tab key. */
function moveInGrid(event: KeyboardEvent<HTMLDivElement>): void {
  const buttons = [...event.currentTarget.querySelectorAll("button")];
  const first = buttons[0];
  const index = buttons.findIndex((button) => button === activeElementFor(button));
  if (!first || index < 0) return;
  const columns = buttons.filter(({ offsetTop }) => offsetTop === first.offsetTop).length;
  const forward = getComputedStyle(event.currentTarget).direction === "rtl" ? -1 : 1;
  const steps: Record<string, number> = { ArrowRight: forward, ArrowLeft: -forward, ArrowDown: columns, ArrowUp: -columns };
  const step = steps[event.key];
  if (step === undefined) return;
  event.preventDefault();
  buttons[index + step]?.focus();
}
