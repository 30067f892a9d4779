import { expect, test } from "vitest";
import { bookRefund, refundOf } from "./refund-rules.ts";

const paid = { status: "complete" as const, amount: 1900, reserved: 500, refunded: 200 };

test.each([
  ["all that is left without an amount", paid, undefined, { amount: 1400 }],
  ["the requested amount", paid, 1400, { amount: 1400 }],
  ["no more than is left", paid, 1401, { rejection: "Only 1400 of 1900 can still be refunded" }],
  ["nothing while the rest is pending", { ...paid, reserved: 1900 }, undefined, { rejection: "The rest of the charge is being refunded" }],
  [
    "nothing of a fully refunded charge",
    { ...paid, reserved: 1900, refunded: 1900 },
    1,
    { rejection: "The charge is already fully refunded" },
  ],
  ["nothing of an unpaid charge", { ...paid, status: "pending" as const }, 1, { rejection: "The charge was not paid" }],
])("refunds %s", (_, charge, amount, expected) => {
  expect(refundOf(charge, amount)).toEqual(expected);
});

test.each([
  ["pending", "complete", { reserved: 500, refunded: 500 }],
  ["pending", "declined", { reserved: 200, refunded: 200 }],
  ["complete", "declined", { reserved: 200, refunded: -100 }],
  ["declined", "complete", { reserved: 800, refunded: 500 }],
  ["declined", "pending", { reserved: 800, refunded: 200 }],
  ["pending", "pending", { reserved: 500, refunded: 200 }],
] as const)("updates the totals for a refund of 300 that changes from %s to %s", (from, to, expected) => {
  expect(bookRefund(paid, 300, from, to)).toEqual(expected);
});
