/** What decides how much of a charge can go back: in minor units; `reserved` is what was or is being given back. */
export interface Refundable {
  status: "complete" | "declined" | "pending";
  amount: number;
  reserved: number;
  refunded: number;
}

type PaymentStatus = Refundable["status"];

/** How much goes back when `amount` is asked for, or, without it, all that is left; or why nothing does. */
export function refundOf(charge: Refundable, amount?: number): { amount: number } | { refusal: string } {
  if (charge.status !== "complete") return { refusal: "The charge was not paid" };
  const left = charge.amount - charge.reserved;
  if (left === 0)
    return { refusal: charge.refunded === charge.amount ? "All of it has been refunded" : "The rest of it is being refunded" };
  if (amount !== undefined && amount > left) return { refusal: `Only ${left} of ${charge.amount} can still be refunded` };
  return { amount: amount ?? left };
}

/** What a charge's books say after a refund of it has gone from one status to another. */
export function bookRefund(
  charge: Pick<Refundable, "reserved" | "refunded">,
  amount: number,
  from: PaymentStatus,
  to: PaymentStatus,
): { reserved: number; refunded: number } {
  const held = (status: PaymentStatus): number => (status === "declined" ? 0 : amount);
  const arrived = (status: PaymentStatus): number => (status === "complete" ? amount : 0);
  return { reserved: charge.reserved + held(to) - held(from), refunded: charge.refunded + arrived(to) - arrived(from) };
}
