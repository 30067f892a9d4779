// Currencies that have no minor unit, and those whose minor unit is a thousandth, as Stripe's documentation lists them.
const WHOLE = new Set("bif clp djf gnf isk jpy kmf krw mga pyg rwf ugx vnd vuv xaf xof xpf".split(" "));
const THOUSANDTHS = new Set("bhd jod kwd omr tnd".split(" "));

/** How many decimals an amount in minor units of a currency (ISO 4217, lower case) has. Not those that people write: of HUF they leave them out. */
export function minorDigits(currency: string): 0 | 2 | 3 {
  if (WHOLE.has(currency)) return 0;
  return THOUSANDTHS.has(currency) ? 3 : 2;
}

/** Minor units as people read them, with all of the currency's decimals. */
export function formatMoney(amount: number, currency: string): string {
  const digits = minorDigits(currency);
  const format = { minimumFractionDigits: digits, maximumFractionDigits: digits };
  return new Intl.NumberFormat("en-GB", { style: "currency", currency: currency.toUpperCase(), ...format }).format(amount / 10 ** digits);
}

export const ENDS_IN_ZERO = "Amounts of a currency with three decimals end in 0: no card is charged the last of them";

/** Whether cards can be charged an amount in minor units: Stripe takes thousandths by tens. */
export function isPayable(amount: number, currency: string): boolean {
  return minorDigits(currency) < 3 || amount % 10 === 0;
}
