import type { Field } from "#studio/api/fields.ts";

/** What is wrong with a value that somebody has typed, before the server sees it. The server checks the rest. */
export function problemWith(field: Field, value: unknown): string | undefined {
  const text = typeof value === "string" ? value.trim() : "";
  if (field.kind === "switch" || field.kind === "texts" || field.kind === "references") return undefined;
  if (text === "") return field.required && !field.nullable ? "This field is required." : undefined;
  switch (field.kind) {
    case "number":
      return problemWithNumber(field, Number(text));
    case "time":
      return Number.isNaN(new Date(text).getTime()) ? "This isn't a date and time." : undefined;
    case "json":
      return isJson(text) ? undefined : "This isn't valid JSON.";
    case "text":
      return field.maxLength !== undefined && text.length > field.maxLength
        ? `At most ${field.maxLength.toLocaleString("en-GB")} characters.`
        : undefined;
    default:
      return undefined;
  }
}

function problemWithNumber({ integer, minimum, maximum }: Field & { kind: "number" }, value: number): string | undefined {
  if (!Number.isFinite(value)) return "This isn't a number.";
  if (integer && !Number.isInteger(value)) return "This isn't a whole number.";
  if (minimum !== undefined && value < minimum) return `At least ${String(minimum)}.`;
  return maximum !== undefined && value > maximum ? `At most ${String(maximum)}.` : undefined;
}

function isJson(text: string): boolean {
  try {
    JSON.parse(text);
    return true;
  } catch {
    return false;
  }
}
