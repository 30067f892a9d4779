/** The number of decimals of a currency, by ISO 4217 code. */
function decimalsOf(currency: string): number {
  return new Intl.NumberFormat("en", { style: "currency", currency }).resolvedOptions().maximumFractionDigits ?? 2;
}

/** An amount in minor units, as it is written in a locale. */
export function formatAmount(amount: number, currency: string, locale: string): string {
  const code = currency.toUpperCase();
  const digits = decimalsOf(code);
  const value = amount / 10 ** digits;
  const whole = Number.isInteger(value) ? { minimumFractionDigits: 0 } : {};
  return new Intl.NumberFormat(locale, { style: "currency", currency: code, ...whole }).format(value);
}

/** What a viewer typed, in minor units; undefined if it isn't an amount of the currency. Accepts a comma as the decimal point. */
export function parseAmount(text: string, currency: string): number | undefined {
  const digits = decimalsOf(currency.toUpperCase());
  const match = /^(\d{1,8})(?:[.,](\d{1,3}))?$/.exec(text.trim());
  if (!match) return undefined;
  const [, whole = "", fraction = ""] = match;
  return fraction.length > digits ? undefined : Number(whole + fraction.padEnd(digits, "0"));
}
