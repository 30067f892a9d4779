import { type KeyValueStorage, recall, remember } from "#studio/ui/storage.ts";

/** What the desk does at the press of a button or key. */
export const COMMANDS = ["take", "next", "clear", "clearAll", "hold", "panic", "undo"] as const;
export type Command = (typeof COMMANDS)[number];
export type Bindings = Record<Command, string>;

export const DEFAULT_BINDINGS: Bindings = {
  take: "Space",
  next: "N",
  clear: "C",
  clearAll: "Shift+C",
  hold: "H",
  panic: "P",
  undo: "U",
};

const STORED = "tifo.studio.run.keys";
const MODIFIERS = ["Control", "Alt", "Shift", "Meta"];
/** They move the focus or leave a dialog. */
const RESERVED = new Set(["Tab", "Shift+Tab", "Escape", "Enter", "ArrowUp", "ArrowDown", "ArrowLeft", "ArrowRight"]);

/** The part of a keyboard event that names a key. */
export type Press = Pick<KeyboardEvent, "key" | "ctrlKey" | "altKey" | "shiftKey" | "metaKey">;

/** A key as it is shown and stored, such as "Space", "N" or "Shift+C"; null for a modifier alone. */
export function keyName({ key, ctrlKey, altKey, shiftKey, metaKey }: Press): string | null {
  if (MODIFIERS.includes(key)) return null;
  const name = key === " " ? "Space" : key.length === 1 ? key.toUpperCase() : key;
  // The shift of "!" is in the character itself; that of a letter isn't.
  const shows = shiftKey && (name.length > 1 || /^\p{L}$/u.test(name));
  const held = [ctrlKey && "Ctrl", altKey && "Alt", shows && "Shift", metaKey && "Meta"].filter((one) => one !== false);
  return [...held, name].join("+");
}

/** The command of a key press; undefined if it has none. */
export function commandOf(bindings: Bindings, press: Press): Command | undefined {
  const name = keyName(press);
  return COMMANDS.find((command) => bindings[command] === name);
}

/** Why a key can't be chosen for a command; undefined if it can. */
export function bindingProblem(bindings: Bindings, command: Command, name: string): string | undefined {
  if (RESERVED.has(name)) return `${name} moves between buttons. Choose another key.`;
  const other = COMMANDS.find((one) => one !== command && bindings[one] === name);
  return other && `${name} is the key of “${COMMAND_NAMES[other]}”.`;
}

export const COMMAND_NAMES: Record<Command, string> = {
  take: "Take",
  next: "Next",
  clear: "Clear",
  clearAll: "Clear all",
  hold: "Hold",
  panic: "Panic",
  undo: "Undo",
};

/** The keys of this browser. What isn't stored, or was stored by another version, has its default. */
export function storedBindings(storage: KeyValueStorage): Bindings {
  const stored = parse(recall(storage, STORED));
  const chosen = COMMANDS.map((command) => [command, stored[command] ?? DEFAULT_BINDINGS[command]] as const);
  const bindings: Bindings = { ...DEFAULT_BINDINGS, ...Object.fromEntries(chosen) };
  return new Set(Object.values(bindings)).size === COMMANDS.length ? bindings : DEFAULT_BINDINGS;
}

export function storeBindings(storage: KeyValueStorage, bindings: Bindings | null): void {
  remember(storage, STORED, bindings && JSON.stringify(bindings));
}

function parse(text: string | null): Partial<Record<string, string>> {
  try {
    const value: unknown = JSON.parse(text ?? "{}");
    if (typeof value !== "object" || value === null) return {};
    return Object.fromEntries(Object.entries(value).filter((entry): entry is [string, string] => typeof entry[1] === "string"));
  } catch {
    return {};
  }
}

const TYPING = "input, textarea, select, [contenteditable], dialog, [role=dialog], [role=alertdialog], [role=menu]";

/** Whether the press belongs to what has the focus: a field, a dialog or menu, or, with the space bar, a button. */
export function isTaken(target: EventTarget | null, press: Press): boolean {
  if (!(target instanceof Element)) return false;
  if (target.closest(TYPING) !== null) return true;
  return keyName(press) === "Space" && target.closest("button, a, summary") !== null;
}
