import { z } from "@hono/zod-openapi";

const CURRENCIES = new Set(Intl.supportedValuesOf("currency").map((currency) => currency.toLowerCase()));
const CURRENCY = "An ISO 4217 currency code in lower case, such as eur";

export const Money = z
  .number()
  .int()
  .min(0)
  .max(99_999_999)
  .describe("In minor units of the currency; must be a multiple of 10 for three-decimal currencies");
export const Currency = z
  .string()
  .regex(/^[a-z]{3}$/, { message: CURRENCY, abort: true })
  .refine((currency) => CURRENCIES.has(currency), CURRENCY)
  .openapi({ example: "gbp" });
