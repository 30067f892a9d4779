import { expect, test } from "vitest";
import { formatMoney, isPayable } from "./money.ts";

test.each([
  [1900, "gbp", "£19.00"],
  [1, "usd", "US$0.01"],
  [1900, "jpy", "JP¥1,900"],
  [1900, "isk", "ISK\u00a01,900"],
  // Usually written without decimals, but charged with two.
  [190000, "huf", "HUF\u00a01,900.00"],
  [190000, "idr", "IDR\u00a01,900.00"],
  [19000, "kwd", "KWD\u00a019.000"],
])("%d minor units of %s are formatted as %s", (amount, currency, text) => {
  expect(formatMoney(amount, currency)).toBe(text);
});

test.each([
  [1995, "gbp", true],
  [1995, "jpy", true],
  [1995, "kwd", false],
  [1990, "kwd", true],
  [1100, "bhd", true],
])("cards can be charged %d minor units of %s: %s", (amount, currency, expected) => {
  expect(isPayable(amount, currency)).toBe(expected);
});
