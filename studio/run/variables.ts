import type { Item, Overlay, Variables } from "./model.ts";

type Value = Variables[string];

/** A variable of an overlay, with the value that it has unless the operator gives another. */
export interface VariableField {
  name: string;
  value: Value;
}

const PLACEHOLDER = /\{\{[~&{]?\s*([A-Za-z_][\w-]*)\s*[}~]/g;
/** They are words of the template language. */
const KEYWORDS = new Set(["else", "this"]);

/** The variables of an overlay, in the order of its elements, with what the item gives. */
export function fieldsOf(overlay: Overlay, given: Variables = {}): VariableField[] {
  const found = new Map<string, Value>();
  for (const content of overlay.contents) {
    const defaults = plainValues(content.variables ?? {});
    const asked = content.kind === "html" ? [content.html] : Object.values(defaults).filter((value) => typeof value === "string");
    const placeholders = asked.flatMap((text) => [...text.matchAll(PLACEHOLDER)]).map(([, name = ""]) => name);
    const names = placeholders.filter((name) => !KEYWORDS.has(name));
    // A template of the kit that asks for some values has the others for good.
    const offered = content.kind === "kit" && names.length > 0 ? names : [...Object.keys(defaults), ...names];
    for (const name of offered) found.set(name, defaults[name] ?? "");
  }
  for (const [name, value] of Object.entries(given)) found.set(name, value);
  return [...found].map(([name, value]) => ({ name, value }));
}

/** A graphic's variables may also be lists and objects, which a broadcast can't override. */
function plainValues(variables: Record<string, unknown>): Variables {
  return Object.fromEntries(Object.entries(variables).filter((entry): entry is [string, Value] => isValue(entry[1])));
}

function isValue(value: unknown): value is Value {
  return typeof value === "string" || typeof value === "number" || typeof value === "boolean";
}

/** What was typed, as a value of the same type. Undefined for a number that isn't one. */
export function parseValue(text: string, like: Value): Value | undefined {
  if (typeof like === "boolean") return text === "true";
  if (typeof like !== "number") return text;
  const number = Number(text.replace(",", "."));
  return text.trim() === "" || !Number.isFinite(number) ? undefined : number;
}

/** The item's own variables. */
export function ownVariables(item: Item | undefined): Variables {
  return item?.kind === "broadcast" ? (item.broadcast?.variables ?? {}) : {};
}

/** Only what differs from the item's own, which a take then overrides. */
export function overrides(own: Variables, given: Variables): Variables | undefined {
  const changed = Object.entries(given).filter(([name, value]) => own[name] !== value);
  return changed.length === 0 ? undefined : Object.fromEntries(changed);
}
