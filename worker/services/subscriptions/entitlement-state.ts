import type { ENTITLEMENT_STATUSES } from "#db/enums.ts";

export const TRANSITIONS = ["grant", "cancel", "scheduleCancel", "remove", "justRefund", "refund", "renew", "expire"] as const;

export type Transition = (typeof TRANSITIONS)[number];
type Status = (typeof ENTITLEMENT_STATUSES)[number];

/** Everything that determines the allowed transitions of an entitlement. */
export interface EntitlementFacts {
  status: Status;
  /** The amounts paid and refunded, in minor units. */
  price: number;
  refunded: number;
  /** The end of the paid period; null if it isn't recurring. */
  dateEnds: number | null;
}

/** The events that a transition may have. */
type EntitlementEvent = "entitlement_granted" | (typeof EVENTS)[keyof typeof EVENTS];

/** The effects of a transition. */
export interface Step {
  allowed: true;
  status: Status;
  event: EntitlementEvent;
  /** The account loses the entitlement. */
  revokes: boolean;
  /** We refund money to the account; `refund` records a refund that has already happened. */
  paysBack: boolean;
  /** When to stop recurring payments; null if there are none, or they continue. */
  stopsBilling: "immediate" | "endOfBilling" | null;
}

export interface Rejection {
  allowed: false;
  message: string;
}

/**
 * The result of a transition, the single source of truth. `grant` grants (`null`: never held before), `cancel` ends immediately,
 * `scheduleCancel` at the end of the paid period, `remove` revokes what is no longer charged, `justRefund` refunds without other changes,
 * `refund` records a full refund made elsewhere, `renew` a paid next period, `expire` the end of the last one. `payBack` adds a refund to
 * a cancellation, also to one that happened without it.
 */
export function nextStep(facts: EntitlementFacts | null, transition: Transition, { payBack = false } = {}): Step | Rejection {
  if (transition === "grant") return grant(facts);
  if (!facts) return reject("The account does not hold this");
  const paysBack = transition === "justRefund" || payBack;
  const isOwed = payBack && facts.price > facts.refunded;
  const rejection =
    (isOwed ? undefined : rejectRepeated(facts, transition)) ??
    rejectEnd(facts, transition) ??
    rejectRefund(facts, paysBack || transition === "refund");
  if (rejection) return rejection;
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

/** A step reported by an external system: nothing to check or to carry out. */
export function externalStep(status: Status, event: EntitlementEvent): Step {
  return { allowed: true, status, event, revokes: false, paysBack: false, stopsBilling: null };
}

/** The actions available to member managers. */
export function actionsOf(facts: EntitlementFacts): { canCancel: boolean; canRefund: boolean; canRemove: boolean } {
  const allowed = (transition: Transition): boolean => nextStep(facts, transition).allowed;
  return { canCancel: allowed("cancel"), canRefund: allowed("justRefund"), canRemove: allowed("remove") };
}

const EVENTS = {
  cancel: "entitlement_cancelled",
  scheduleCancel: "entitlement_cancelScheduled",
  remove: "entitlement_revoked",
  justRefund: "entitlement_refunded",
  refund: "entitlement_refunded",
  renew: "entitlement_renewed",
  expire: "entitlement_expired",
} as const satisfies Record<Exclude<Transition, "grant">, string>;

/** Transitions that end an entitlement. */
const ENDS = new Set<Transition>(["cancel", "remove", "refund", "expire"]);

function grant(facts: EntitlementFacts | null): Step | Rejection {
  if (facts && isHeld(facts)) return reject("The account already holds this");
  return { allowed: true, status: "active", event: "entitlement_granted", revokes: false, paysBack: false, stopsBilling: null };
}

/** Rejects transitions that have already happened. Refunds are possible long after the end. */
function rejectRepeated(facts: EntitlementFacts, transition: Transition): Rejection | undefined {
  if (transition === "justRefund" || transition === "refund") return undefined;
  if (!isHeld(facts)) return reject("The entitlement is already cancelled");
  if (transition === "scheduleCancel" && facts.status === "cancelScheduled") return reject("The cancellation is already scheduled");
  return undefined;
}

function rejectEnd(facts: EntitlementFacts, transition: Transition): Rejection | undefined {
  if (transition === "scheduleCancel" && facts.dateEnds === null) {
    return reject("This entitlement isn't recurring, so there is no end of billing to wait for");
  }
  if (transition === "renew" && facts.dateEnds === null) return reject("This entitlement isn't recurring");
  if (transition === "remove" && isBilled(facts)) return reject("This entitlement is recurring; cancel it to stop the payments too");
  return undefined;
}

function rejectRefund(facts: EntitlementFacts, money: boolean): Rejection | undefined {
  if (!money || facts.price > facts.refunded) return undefined;
  return reject(facts.price === 0 ? "Nothing was paid for this entitlement" : "Everything paid has already been refunded");
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

function reject(message: string): Rejection {
  return { allowed: false, message };
}
