import { describe, expect, test } from "vitest";
import { ENTITLEMENT_STATUSES } from "#db/enums.ts";
import { actionsOf, type EntitlementFacts, externalStep, nextStep, type Transition, TRANSITIONS } from "./entitlement-state.ts";

const granted: EntitlementFacts = { status: "active", price: 0, refunded: 0, dateEnds: null };
const purchased: EntitlementFacts = { ...granted, price: 900 };
const billed: EntitlementFacts = { ...purchased, dateEnds: 5 };
const scheduled: EntitlementFacts = { ...billed, status: "cancelScheduled" };

/** The status after a transition; a hyphen if it is rejected. */
function becomes(facts: EntitlementFacts | null, transition: Transition): string {
  const step = nextStep(facts, transition);
  return step.allowed ? step.status : "-";
}

const ROWS: [string, EntitlementFacts | null, Record<Transition, string>][] = [
  ["never held", null, row("active", "-", "-", "-", "-", "-", "-", "-")],
  ["granted", granted, row("-", "cancelled", "-", "cancelled", "-", "-", "-", "cancelled")],
  ["purchased once", purchased, row("-", "cancelled", "-", "cancelled", "active", "cancelled", "-", "cancelled")],
  ["purchased and refunded", { ...purchased, refunded: 900 }, row("-", "cancelled", "-", "cancelled", "-", "-", "-", "cancelled")],
  ["paid monthly", billed, row("-", "cancelled", "cancelScheduled", "-", "active", "cancelled", "active", "cancelled")],
  ["about to end", scheduled, row("-", "cancelled", "-", "cancelled", "cancelScheduled", "cancelled", "cancelScheduled", "cancelled")],
  ["granted and revoked", { ...granted, status: "cancelled" }, row("active", "-", "-", "-", "-", "-", "-", "-")],
  ["purchased and cancelled", { ...purchased, status: "cancelled" }, row("active", "-", "-", "-", "cancelled", "cancelled", "-", "-")],
  ["paid monthly and cancelled", { ...billed, status: "cancelled" }, row("active", "-", "-", "-", "cancelled", "cancelled", "-", "-")],
];

function row(...statuses: [string, string, string, string, string, string, string, string]): Record<Transition, string> {
  const [grant, cancel, scheduleCancel, remove, justRefund, refund, renew, expire] = statuses;
  return { grant, cancel, scheduleCancel, remove, justRefund, refund, renew, expire };
}

describe("an entitlement", () => {
  test.each(ROWS)("that is %s allows exactly these transitions", (_name, facts, expected) => {
    expect(Object.fromEntries(TRANSITIONS.map((transition) => [transition, becomes(facts, transition)]))).toEqual(expected);
  });

  test("that is granted, or reported by another system, has nothing to refund, to revoke or to stop", () => {
    const nothing = { allowed: true, revokes: false, paysBack: false, stopsBilling: null };
    expect(nextStep(null, "grant", { payBack: true })).toEqual({ ...nothing, status: "active", event: "entitlement_granted" });
    const ended = { status: "cancelled", event: "entitlement_cancelled" } as const;
    expect(externalStep(ended.status, ended.event)).toEqual({ ...nothing, ...ended });
  });

  test("is tested in every status", () => {
    expect(new Set(ROWS.flatMap(([, facts]) => facts?.status ?? []))).toEqual(new Set(ENTITLEMENT_STATUSES));
  });

  test.each(ENTITLEMENT_STATUSES.flatMap((status) => TRANSITIONS.map((transition) => [status, transition] as const)))(
    "that is %s is revoked by %s exactly if that changes its status to cancelled",
    (status, transition) => {
      for (const facts of [granted, purchased, billed]) {
        const step = nextStep({ ...facts, status }, transition);
        if (step.allowed) expect(step.revokes).toBe(status !== "cancelled" && step.status === "cancelled");
        else expect(step.message).not.toBe("");
      }
    },
  );
});

describe("money", () => {
  test("is refunded with a cancellation only if requested, and never twice", () => {
    expect(nextStep(billed, "cancel")).toMatchObject({ paysBack: false });
    expect(nextStep(billed, "cancel", { payBack: true })).toMatchObject({ paysBack: true, status: "cancelled" });
    expect(nextStep({ ...billed, refunded: 300 }, "justRefund")).toMatchObject({ paysBack: true, status: "active" });
    for (const transition of ["cancel", "scheduleCancel", "justRefund"] as const) {
      const rejected = nextStep({ ...billed, refunded: 900 }, transition, { payBack: true });
      expect(rejected).toEqual({ allowed: false, message: "Everything paid has already been refunded" });
    }
  });

  test("can be refunded after a cancellation without a refund, which changes nothing else", () => {
    for (const transition of ["cancel", "remove", "scheduleCancel"] as const) {
      const step = nextStep({ ...billed, status: "cancelled" }, transition, { payBack: true });
      expect(step).toMatchObject({ allowed: true, status: "cancelled", revokes: false, paysBack: true, stopsBilling: null });
    }
    expect(nextStep(scheduled, "scheduleCancel", { payBack: true })).toMatchObject({ status: "cancelScheduled", paysBack: true });
    const rejected = nextStep({ ...purchased, status: "cancelled", refunded: 900 }, "cancel", { payBack: true });
    expect(rejected).toEqual({ allowed: false, message: "The entitlement is already cancelled" });
  });

  test("that was never paid is not refunded", () => {
    expect(nextStep(granted, "remove", { payBack: true })).toEqual({ allowed: false, message: "Nothing was paid for this entitlement" });
  });

  test("that was refunded elsewhere is not refunded again", () => {
    expect(nextStep(purchased, "refund")).toMatchObject({ paysBack: false, status: "cancelled", event: "entitlement_refunded" });
  });
});

describe("recurring payments", () => {
  test.each([
    ["cancel", billed, "immediate"],
    ["cancel", scheduled, "immediate"],
    ["scheduleCancel", billed, "endOfBilling"],
    ["refund", billed, "immediate"],
    ["justRefund", billed, null],
    ["renew", billed, null],
    ["remove", scheduled, null],
    ["cancel", purchased, null],
  ] as const)("on %s of %o end %s", (transition, facts, stopsBilling) => {
    expect(nextStep(facts, transition)).toMatchObject({ stopsBilling });
  });
});

test("actionsOf returns the allowed actions", () => {
  expect(actionsOf(granted)).toEqual({ canCancel: true, canRefund: false, canRemove: true });
  expect(actionsOf(billed)).toEqual({ canCancel: true, canRefund: true, canRemove: false });
  expect(actionsOf({ ...purchased, status: "cancelled" })).toEqual({ canCancel: false, canRefund: true, canRemove: false });
});
