import { choiceText } from "#studio/api/words.ts";

const TIME = new Intl.DateTimeFormat("en-GB", { dateStyle: "medium", timeStyle: "short" });
/** Later than any number that isn't a time: 2001 in seconds and in milliseconds. */
const FIRST_SECONDS = 978_307_200;
const FIRST_MILLISECONDS = FIRST_SECONDS * 1000;
/** Properties whose values are one of a few words. */
const CHOICES = /^(player|recurrence|subscriptionProvider|access|type|.*Type|.*_type)$/;
const TIMES = /^(created|modified|expires|lastLogin|.*Time|.*Timestamp|time.*|.*At|.*Expires|nextTry)$/;

/** A value in a table, as text. */
export function Cell({ name, value }: { name: string; value: unknown }) {
  return <>{cellText(name, value)}</>;
}

export function cellText(name: string, value: unknown): string {
  if (value === null || value === undefined || value === "") return "–";
  if (typeof value === "boolean") return value ? "Yes" : "No";
  if (typeof value === "number") return isTime(name, value) ? timeText(value) : value.toLocaleString("en-GB");
  if (typeof value === "string") return CHOICES.test(name) ? choiceText(value, name) : value;
  if (Array.isArray(value)) return value.length === 0 ? "–" : value.map((item) => cellText("", item)).join(", ");
  return JSON.stringify(value);
}

/** Whether a property of this name may be a time. */
export function namesTime(name: string): boolean {
  return TIMES.test(name);
}

function isTime(name: string, value: number): boolean {
  return namesTime(name) && value >= FIRST_SECONDS;
}

export function timeText(value: number): string {
  return TIME.format(value >= FIRST_MILLISECONDS ? value : value * 1000);
}

/** Said below the name of an item on its own screen. */
export function changedText(modified: unknown): string | undefined {
  return typeof modified === "number" ? `Last changed ${timeText(modified)}` : undefined;
}
