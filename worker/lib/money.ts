// Currencies without a minor unit, and those whose minor unit is a thousandth, according to Stripe's documentation.
const WHOLE = new Set("bif clp djf gnf isk jpy kmf krw mga pyg rwf ugx vnd vuv xaf xof xpf".split(" "));
const THOUSANDTHS = new Set("bhd jod kwd omr tnd".split(" "));

/** Number of decimals of a currency (ISO 4217, lower case) in minor units. People may write fewer: HUF is written without. */
export function minorDigits(currency: string): 0 | 2 | 3 {
  if (WHOLE.has(currency)) return 0;
  return THOUSANDTHS.has(currency) ? 3 : 2;
}

/** Formats minor units for people, with all of the currency's decimals. */
export function formatMoney(amount: number, currency: string): string {
  const digits = minorDigits(currency);
  const format = { minimumFractionDigits: digits, maximumFractionDigits: digits };
  return new Intl.NumberFormat("en-GB", { style: "currency", currency: currency.toUpperCase(), ...format }).format(amount / 10 ** digits);
}

export const ENDS_IN_ZERO = "Amounts in a currency with three decimals must end in 0, because cards can't be charged the last decimal";

/** Whether cards can be charged an amount in minor units: Stripe accepts thousandths only in multiples of ten. */
export function isPayable(amount: number, currency: string): boolean {
  return minorDigits(currency) < 3 || amount % 10 === 0;
}
