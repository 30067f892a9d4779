import { expect, test } from "vitest";
import { formatAmount, parseAmount } from "#sdk/core/money.ts";

test.each([
  [1000, "gbp", "£10"],
  [1050, "gbp", "£10.50"],
  [500, "jpy", "¥500"],
])("formats %i minor units of %s as %s", (amount, currency, text) => {
  expect(formatAmount(amount, currency, "en")).toBe(text);
});

test.each([
  ["10", "gbp", 1000],
  [" 10.5 ", "gbp", 1050],
  ["10,50", "eur", 1050],
  ["10.505", "gbp", undefined],
  ["10.5", "jpy", undefined],
  ["10", "jpy", 10],
  ["1e3", "gbp", undefined],
  ["-1", "gbp", undefined],
  ["", "gbp", undefined],
])("reads the typed amount %j of %s as %s minor units", (text, currency, amount) => {
  expect(parseAmount(text, currency)).toBe(amount);
});
