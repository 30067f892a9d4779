import type { Field } from "#studio/api/fields.ts";

export interface KnownValue {
  value: string;
  text: string;
}

const CURRENCY_NAMES = new Intl.DisplayNames("en-GB", { type: "currency" });

/** What a text field can have, where the browser knows all of it: a time zone or a currency. Null for any other text. */
export function knownValues({ name }: Pick<Field, "name">, current: string): readonly KnownValue[] | null {
  const values = valuesOf(name);
  if (!values) return null;
  // The server may know one that this browser doesn't.
  return current === "" || values.some(({ value }) => value === current) ? values : [{ value: current, text: current }, ...values];
}

function valuesOf(name: string): readonly KnownValue[] | null {
  if (name === "timeZone") return timeZones();
  return /^(currency|presentmentCurrency)$/.test(name) ? currencies() : null;
}

/** The browser's own first. */
function timeZones(): readonly KnownValue[] {
  const here = new Intl.DateTimeFormat().resolvedOptions().timeZone;
  return [...new Set([here, "UTC", ...Intl.supportedValuesOf("timeZone")])].map((value) => ({ value, text: value.replaceAll("_", " ") }));
}

/** In the API, currencies are written small. */
function currencies(): readonly KnownValue[] {
  return Intl.supportedValuesOf("currency").map((code) => ({
    value: code.toLowerCase(),
    text: `${code} – ${CURRENCY_NAMES.of(code) ?? code}`,
  }));
}
