/** How a language writes a JSON value. */
export interface Dialect {
  null: string;
  true: string;
  false: string;
  key: (name: string) => string;
  /** Between the braces of an object on one line. */
  padding: string;
  /** After the last entry of several lines. */
  trailing: string;
}

export const JSON_TEXT: Dialect = {
  null: "null",
  true: "true",
  false: "false",
  key: (name) => JSON.stringify(name),
  padding: " ",
  trailing: "",
};
export const JAVASCRIPT: Dialect = {
  ...JSON_TEXT,
  key: (name) => (/^[A-Za-z_$][\w$]*$/.test(name) ? name : JSON.stringify(name)),
  trailing: ",",
};
export const PYTHON: Dialect = { ...JSON_TEXT, null: "None", true: "True", false: "False", padding: "", trailing: "," };

const WIDTH = 72;

/** Writes a JSON value in a language, on one line if it is short. `indent` is the column of its first line. */
export function literal(value: unknown, dialect: Dialect, indent = 0): string {
  const line = onOneLine(value, dialect);
  if (typeof value !== "object" || value === null || line.length + indent <= WIDTH) return line;
  const inner = " ".repeat(indent + 2);
  const entries = Array.isArray(value)
    ? value.map((entry: unknown) => literal(entry, dialect, indent + 2))
    : Object.entries(value).map(([name, entry]) => `${dialect.key(name)}: ${literal(entry, dialect, indent + 2)}`);
  const [open, close] = Array.isArray(value) ? ["[", "]"] : ["{", "}"];
  return `${open}\n${entries.map((entry) => `${inner}${entry}`).join(",\n")}${dialect.trailing}\n${" ".repeat(indent)}${close}`;
}

function onOneLine(value: unknown, dialect: Dialect): string {
  if (value === null) return dialect.null;
  if (typeof value === "boolean") return dialect[value ? "true" : "false"];
  if (Array.isArray(value)) return `[${value.map((entry: unknown) => onOneLine(entry, dialect)).join(", ")}]`;
  if (typeof value !== "object") return JSON.stringify(value);
  const entries = Object.entries(value).map(([name, entry]) => `${dialect.key(name)}: ${onOneLine(entry, dialect)}`);
  return entries.length === 0 ? "{}" : `{${dialect.padding}${entries.join(", ")}${dialect.padding}}`;
}
