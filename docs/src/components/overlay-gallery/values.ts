export type Value = string | number | boolean;

/** What was typed into a field, as a variable; undefined leaves it out. Digits become a number where the template accepts one. */
export function valueOf(text: string, sample: Value | undefined): Value | undefined {
  if (text === "") return undefined;
  if (typeof sample === "number" && /^\d{1,15}$/.test(text)) return Number(text);
  return text;
}
