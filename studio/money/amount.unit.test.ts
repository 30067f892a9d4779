import { expect, test } from "vitest";
import { editable, readAmount } from "./amount.ts";

test.each([
  ["4.50", "gbp", 450],
  ["4,5", "eur", 450],
  ["0.29", "usd", 29],
  [" 19 ", "gbp", 1900],
  ["1900", "jpy", 1900],
  ["1.230", "kwd", 1230],
])("%s %s are %d minor units", (text, currency, minor) => {
  expect(readAmount(text, currency, 99_999)).toEqual({ minor });
});

test.each([
  ["", "gbp", "Enter an amount, such as 19.00."],
  ["-1", "gbp", "Enter an amount, such as 19.00."],
  ["1e3", "gbp", "Enter an amount, such as 19.00."],
  ["1,000.00", "gbp", "Enter an amount, such as 19.00."],
  ["0", "gbp", "Enter more than zero."],
  ["1.999", "gbp", "At most 2 decimals."],
  ["1.5", "jpy", "This currency has no decimals."],
  ["19.01", "gbp", "At most £19.00 can be refunded."],
  ["1.001", "kwd", "Amounts in this currency must end in 0."],
])("%s %s is rejected: %s", (text, currency, problem) => {
  expect(readAmount(text, currency, 1900)).toEqual({ problem });
});

test("what a field shows is read as the same amount", () => {
  for (const [minor, currency] of [
    [5, "gbp"],
    [1900, "gbp"],
    [7, "jpy"],
    [1230, "kwd"],
  ] as const)
    expect(readAmount(editable(minor, currency), currency, minor)).toEqual({ minor });
});
