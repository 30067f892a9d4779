/** What determines how much of a charge can be refunded, in minor units; `reserved` is what is refunded or pending. */
export interface Refundable {
  status: "complete" | "declined" | "pending";
  amount: number;
  reserved: number;
  refunded: number;
}

type PaymentStatus = Refundable["status"];

/** How much to refund when `amount` is requested (everything left if omitted), or why it is rejected. */
export function refundOf(charge: Refundable, amount?: number): { amount: number } | { rejection: string } {
  if (charge.status !== "complete") return { rejection: "The charge was not paid" };
  const left = charge.amount - charge.reserved;
  if (left === 0)
    return {
      rejection: charge.refunded === charge.amount ? "The charge is already fully refunded" : "The rest of the charge is being refunded",
    };
  if (amount !== undefined && amount > left) return { rejection: `Only ${left} of ${charge.amount} can still be refunded` };
  return { amount: amount ?? left };
}

/** A charge's totals after one of its refunds changes from one status to another. */
export function bookRefund(
  charge: Pick<Refundable, "reserved" | "refunded">,
  amount: number,
  from: PaymentStatus,
  to: PaymentStatus,
): { reserved: number; refunded: number } {
  const reservedBy = (status: PaymentStatus): number => (status === "declined" ? 0 : amount);
  const refundedBy = (status: PaymentStatus): number => (status === "complete" ? amount : 0);
  return { reserved: charge.reserved + reservedBy(to) - reservedBy(from), refunded: charge.refunded + refundedBy(to) - refundedBy(from) };
}
