import type { ENTITLEMENT_STATUSES } from "#db/enums.ts";

export const TRANSITIONS = ["grant", "cancel", "scheduleCancel", "remove", "justRefund", "refund", "renew", "expire"] as const;

export type Transition = (typeof TRANSITIONS)[number];
type Status = (typeof ENTITLEMENT_STATUSES)[number];

/** All that decides what may become of an entitlement. */
export interface EntitlementFacts {
  status: Status;
  /** What was paid and what of it has been paid back, in minor units. */
  price: number;
  refunded: number;
  /** When the period that is paid for ends; null where nothing is paid regularly. */
  dateEnds: number | null;
}

/** What a transition does. */
export interface Step {
  allowed: true;
  status: Status;
  event: string;
  /** The account loses what it held. */
  revokes: boolean;
  /** Money goes back to the account, by us: `refund` tells of money that has gone back already. */
  paysBack: boolean;
  /** When the regular payments are to end; null where there are none, or they go on. */
  stopsBilling: "immediate" | "endOfBilling" | null;
}

export interface Refusal {
  allowed: false;
  message: string;
}

/**
 * What comes of a transition: the one place that knows. `grant` gives (`null`: what was never held), `cancel` ends at once and
 * `scheduleCancel` with the period that is paid for, `remove` takes away what nobody is charged for any more, `justRefund` pays back and
 * leaves the rest, `refund` says that all was paid back elsewhere, `renew` that the next period is paid for, `expire` that the
 * last one is over. `payBack` adds a refund to an end, also to one that was reached without it.
 */
export function nextStep(facts: EntitlementFacts | null, transition: Transition, { payBack = false } = {}): Step | Refusal {
  if (transition === "grant") return grant(facts);
  if (!facts) return refuse("The account does not hold this");
  const paysBack = transition === "justRefund" || payBack;
  const isOwed = payBack && facts.price > facts.refunded;
  const refusal =
    (isOwed ? undefined : refuseAgain(facts, transition)) ??
    refuseEnd(facts, transition) ??
    refuseMoney(facts, paysBack || transition === "refund");
  if (refusal) return refusal;
  const revokes = isHeld(facts) && ENDS.has(transition);
  return {
    allowed: true,
    status: revokes ? "cancelled" : isHeld(facts) && transition === "scheduleCancel" ? "cancelScheduled" : facts.status,
    event: EVENTS[transition],
    revokes,
    paysBack,
    stopsBilling: stopOf(facts, transition),
  };
}

/** What an outside system says is so, whichever way it came to that: nothing of it is ours to allow or to carry out. */
export function asToldOutside(status: Status, event: string): Step {
  return { allowed: true, status, event, revokes: false, paysBack: false, stopsBilling: null };
}

/** Which actions somebody who manages members is offered. */
export function actionsOf(facts: EntitlementFacts): { canCancel: boolean; canRefund: boolean; canRemove: boolean } {
  const allowed = (transition: Transition): boolean => nextStep(facts, transition).allowed;
  return { canCancel: allowed("cancel"), canRefund: allowed("justRefund"), canRemove: allowed("remove") };
}

const EVENTS: Record<Exclude<Transition, "grant">, string> = {
  cancel: "entitlement_cancelled",
  scheduleCancel: "entitlement_cancelScheduled",
  remove: "entitlement_revoked",
  justRefund: "entitlement_refunded",
  refund: "entitlement_refunded",
  renew: "entitlement_renewed",
  expire: "entitlement_expired",
};

/** Transitions after which nothing is held. */
const ENDS = new Set<Transition>(["cancel", "remove", "refund", "expire"]);

function grant(facts: EntitlementFacts | null): Step | Refusal {
  if (facts && isHeld(facts)) return refuse("The account holds this already");
  return { allowed: true, status: "active", event: "entitlement_granted", revokes: false, paysBack: false, stopsBilling: null };
}

/** What has come to pass already. Money can go back long after. */
function refuseAgain(facts: EntitlementFacts, transition: Transition): Refusal | undefined {
  if (transition === "justRefund" || transition === "refund") return undefined;
  if (!isHeld(facts)) return refuse("The entitlement is cancelled already");
  if (transition === "scheduleCancel" && facts.status === "cancelScheduled") return refuse("The cancellation is scheduled already");
  return undefined;
}

function refuseEnd(facts: EntitlementFacts, transition: Transition): Refusal | undefined {
  if (transition === "scheduleCancel" && facts.dateEnds === null) {
    return refuse("Nothing is paid regularly for this entitlement: there is no end of billing to wait for");
  }
  if (transition === "renew" && facts.dateEnds === null) return refuse("Nothing is paid regularly for this entitlement");
  if (transition === "remove" && isBilled(facts)) return refuse("This entitlement is paid regularly: cancel it, which ends the payments");
  return undefined;
}

function refuseMoney(facts: EntitlementFacts, money: boolean): Refusal | undefined {
  if (!money || facts.price > facts.refunded) return undefined;
  return refuse(facts.price === 0 ? "Nothing was paid for this entitlement" : "All that was paid has been refunded already");
}

function stopOf(facts: EntitlementFacts, transition: Transition): Step["stopsBilling"] {
  if (facts.dateEnds === null || !isHeld(facts)) return null;
  if (transition === "scheduleCancel") return "endOfBilling";
  return transition === "cancel" || transition === "refund" ? "immediate" : null;
}

function isHeld({ status }: EntitlementFacts): boolean {
  return status !== "cancelled";
}

/** Whether the account will be charged again. */
function isBilled({ status, dateEnds }: EntitlementFacts): boolean {
  return status === "active" && dateEnds !== null;
}

function refuse(message: string): Refusal {
  return { allowed: false, message };
}
