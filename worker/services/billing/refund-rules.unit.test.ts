import { expect, test } from "vitest";
import { bookRefund, refundOf } from "./refund-rules.ts";

const paid = { status: "complete" as const, amount: 1900, reserved: 500, refunded: 200 };

test.each([
  ["all that is left", paid, undefined, { amount: 1400 }],
  ["what was asked for", paid, 1400, { amount: 1400 }],
  ["no more than is left", paid, 1401, { refusal: "Only 1400 of 1900 can still be refunded" }],
  ["nothing of what is on its way", { ...paid, reserved: 1900 }, undefined, { refusal: "The rest of it is being refunded" }],
  ["nothing of what is back", { ...paid, reserved: 1900, refunded: 1900 }, 1, { refusal: "All of it has been refunded" }],
  ["nothing of what was never paid", { ...paid, status: "pending" as const }, 1, { refusal: "The charge was not paid" }],
])("gives back %s", (_, charge, amount, expected) => {
  expect(refundOf(charge, amount)).toEqual(expected);
});

test.each([
  ["pending", "complete", { reserved: 500, refunded: 500 }],
  ["pending", "declined", { reserved: 200, refunded: 200 }],
  ["complete", "declined", { reserved: 200, refunded: -100 }],
  ["declined", "complete", { reserved: 800, refunded: 500 }],
  ["declined", "pending", { reserved: 800, refunded: 200 }],
  ["pending", "pending", { reserved: 500, refunded: 200 }],
] as const)("books a refund of 300 that goes from %s to %s", (from, to, expected) => {
  expect(bookRefund(paid, 300, from, to)).toEqual(expected);
});
