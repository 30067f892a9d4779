import { formatMoney, isPayable, minorDigits } from "#worker/lib/money.ts";

/** An amount that somebody typed, in minor units, or what is wrong with it. */
export type Amount = { minor: number; problem?: undefined } | { problem: string };

/** Reads "4.50" as 450 pence, and "450" as 450 yen: digit by digit, because 0.29 × 100 isn't 29 for a computer. */
export function readAmount(text: string, currency: string, most: number): Amount {
  const digits = minorDigits(currency);
  const [, whole = "", decimals = ""] = /^(\d{1,9})(?:[.,](\d+))?$/.exec(text.trim()) ?? [];
  if (whole === "") return { problem: "Enter an amount, such as " + editable(most, currency) + "." };
  if (decimals.length > digits) return { problem: digits === 0 ? "This currency has no decimals." : `At most ${String(digits)} decimals.` };
  const minor = Number(whole + decimals.padEnd(digits, "0"));
  if (minor < 1) return { problem: "Enter more than zero." };
  if (minor > most) return { problem: `At most ${formatMoney(most, currency)} can be refunded.` };
  if (!isPayable(minor, currency)) return { problem: "Amounts in this currency must end in 0." };
  return { minor };
}

/** An amount as it is put into a field: without the currency. */
export function editable(minor: number, currency: string): string {
  const digits = minorDigits(currency);
  if (digits === 0) return String(minor);
  const text = String(minor).padStart(digits + 1, "0");
  return `${text.slice(0, -digits)}.${text.slice(-digits)}`;
}
