import { createHash } from "node:crypto";
import { describe, expect, test } from "vitest";
import { EVENTS } from "./event-catalogue.ts";
import type { EventKind } from "./event-kind.ts";
import { type CataloguedEvent, eventCatalogue } from "./event-samples.ts";
import { SAMPLE_IDS, SAMPLE_MOMENT } from "./sample-ids.ts";

// Plausibility rules for samples, beyond what their schemas require.

const samples = eventCatalogue().map((event) => [event.type, event.sample] as const);
const of = (...types: RegExp[]) => samples.filter(([type]) => types.some((pattern) => pattern.test(type)));
type Sample = CataloguedEvent["sample"];

interface Field {
  path: string;
  name: string;
  value: unknown;
}

/** All values of a sample with their paths; the elements of a list have the list's name. */
function fieldsOf(value: unknown, path = "", name = ""): Field[] {
  if (typeof value !== "object" || value === null) return [{ path, name, value }];
  const isList = Array.isArray(value);
  return Object.entries(value).flatMap(([key, inner]) => fieldsOf(inner, `${path}.${key}`, isList ? name : key));
}

const ID = /^[0-9a-f]{24}$/;
const YEAR = 366 * 86_400_000;
const isTime = (name: string): boolean =>
  /^(created|modified|last_modified|lastLogin|date[A-Z]\w*|settled|at|sentAt|\w+(At|Since|Timestamp|Expires|PeriodEnd))$/.test(name);
const isSeconds = (name: string): boolean => name === "timeMinimum" || name === "timeMaximum";
const areasIds = new Set(Object.values<EventKind>(EVENTS).map(({ ids }) => ids));
const knownIds = [SAMPLE_IDS, ...areasIds].flatMap((ids) => Object.values<string>(ids));

describe.each(samples)("the sample of %s", (type, sample) => {
  const fields = fieldsOf(sample.data);

  test("has the site's id in fields for a site only", () => {
    for (const { path, name, value } of fields) {
      if (name === "siteId" || name === "site_id") expect([SAMPLE_IDS.site, null], path).toContain(value);
      else if (!sample.resource.startsWith("site/")) expect(value, path).not.toBe(SAMPLE_IDS.site);
    }
  });

  test("has known ids, and only in id fields", () => {
    for (const { path, name, value } of fields) {
      if (typeof value !== "string" || !ID.test(value)) continue;
      expect(knownIds, path).toContain(value);
      expect(name, path).toMatch(
        /^(_id|id|uid|creator|owner|theme|navigation|pages|panels|createdBy|answeredBy|mergedInto)$|(Id|ID|Ids|_id)$/,
      );
    }
    expect(ID.test(sample.resource.split("/")[1] ?? ""), sample.resource).toBe(true);
  });

  test("has different ids for different resources", () => {
    const top = Object.entries(sample.data).filter(
      ([name, value]) => typeof value === "string" && ID.test(value) && name !== "uid" && name !== "owner",
    );
    const alias = type.startsWith("poll.") ? ["pollId"] : [];
    const ids = top.filter(([name]) => !alias.includes(name)).map(([, value]) => value);
    expect(new Set(ids).size, JSON.stringify(top)).toBe(ids.length);
    expect(Object.values(sample.data)).not.toContain(sample.id);
  });

  test("has plausible times in chronological order", () => {
    for (const { path, name, value } of fields) {
      if (typeof value !== "number") continue;
      if (isTime(name)) expect(Math.abs(value - SAMPLE_MOMENT), path).toBeLessThan(YEAR);
      if (isSeconds(name)) expect(Math.abs(value * 1000 - SAMPLE_MOMENT), path).toBeLessThan(YEAR);
    }
    const { created, modified } = sample.data;
    if (typeof created === "number" && typeof modified === "number") {
      expect(created).toBeLessThanOrEqual(modified);
      expect(modified).toBeLessThanOrEqual(sample.created);
    }
    for (const [name, value] of Object.entries(sample.data))
      if (
        ["lastLogin", "consumedAt", "liveSince", "dateGranted", "dateCancelled", "dateRefunded", "settled"].includes(name) &&
        value !== null
      )
        expect(value, name).toBeLessThanOrEqual(sample.created);
    for (const [name, value] of Object.entries(sample.data))
      if (["expiresAt", "currentPeriodEnd", "previousSecretExpires", "previousKeyExpires"].includes(name) && value !== null)
        expect(value, name).toBeGreaterThan(sample.created);
    if (sample.previousSequence !== null) expect(sample.previousSequence).toBeLessThan(sample.sequence);
  });

  test("has plausible hashes, addresses, currencies and amounts", () => {
    for (const { path, name, value } of fields) {
      if (value === null) continue;
      if (["hash", "seed", "commitment"].includes(name)) expect(value, path).toMatch(/^[0-9a-f]{64}$/);
      if (typeof value === "string" && /email$/i.test(name)) expect(value, path).toMatch(/^[a-z.]+@([a-z]+\.)?example(\.com)?$/);
      if (typeof value === "string" && value.includes("://")) expect(new URL(value).hostname, path).toMatch(/(^|\.)example(\.com)?$/);
      if (/currency$/i.test(name)) expect(value, path).toMatch(/^[a-z]{3}$/);
      if (name === "amount" || (name === "price" && type !== "entitlement_granted")) expect(value, path).toBeGreaterThanOrEqual(100);
      if (["title", "name", "description", "question"].includes(name)) expect(value, path).not.toMatch(ID);
    }
  });

  test("has no empty names, titles or skus", () => {
    for (const { path, name, value } of fields) if (/name|title|slug|sku|question/i.test(name)) expect(value, path).not.toBe("");
  });
});

const data = (sample: Sample): Record<string, unknown> => sample.data;

test.each(of(/^entitlement_/))("%s: an entitlement's status, dates and amounts are consistent", (type, sample) => {
  const { status, dateCancelled, dateEnds, dateRefunded, refunded, price } = data(sample);
  const expected = {
    entitlement_cancelScheduled: "cancelScheduled",
    entitlement_granted: "active",
    entitlement_purchased: "active",
    entitlement_renewed: "active",
  };
  expect(status).toBe(Object.entries(expected).find(([name]) => name === type)?.[1] ?? "cancelled");
  if (status === "active") expect(dateCancelled).toBeNull();
  else expect(dateCancelled).not.toBeNull();
  if (status !== "cancelled" && dateEnds !== null) expect(dateEnds).toBeGreaterThan(sample.created);
  expect(dateRefunded === null).toBe(refunded === 0);
  expect(refunded).toBeLessThanOrEqual(Number(price));
});

test.each(of(/^billing\.c/))("%s: a charge's status is consistent with its receipt and failure", (_, sample) => {
  const { status, receiptNumber, failure, amount, refunded, refundPending } = data(sample);
  expect(receiptNumber !== null).toBe(status === "complete");
  expect(failure !== null).toBe(status === "declined");
  expect(Number(refunded) + Number(refundPending)).toBeLessThanOrEqual(Number(amount));
});

test.each(of(/^billing\.refund/))("%s: a refund has a failure only if it failed", (_, sample) => {
  expect(data(sample).failure !== null).toBe(data(sample).status === "declined");
});

test.each(of(/^poll\./))("%s: a settled poll is closed and has one of its answers as correct", (_, sample) => {
  const { open, settled, correctAnswerId } = data(sample);
  expect(settled !== null).toBe(correctAnswerId !== null);
  if (settled !== null) expect(open).toBe(false);
  const answerIds = fieldsOf(data(sample).answers).filter(({ name }) => name === "_id");
  if (correctAnswerId !== null) expect(answerIds.map(({ value }) => value)).toContain(correctAnswerId);
});

test.each(of(/^(stream\.(created|deleted|updated)|admin\.went)/))("%s: a stream has liveSince exactly if it is live", (type, sample) => {
  expect(data(sample).isLive).toBe(type === "admin.wentLive");
  expect(data(sample).liveSince !== null).toBe(data(sample).isLive);
});

test.each(of(/^webhook\.(?!test)/))("%s: a webhook has a disabled reason exactly if it is disabled", (_, sample) => {
  expect(data(sample).disabled === null).toBe(data(sample).enabled);
});

test.each(of(/^invite\./))("%s: an invite is consumed or revoked only in events about that", (type, sample) => {
  const { consumed, revoked } = data(sample);
  if (consumed !== undefined) expect(consumed).toBe(/consumed|redeemed/.test(type));
  expect(revoked).toBe(/[rR]evoked/.test(type));
});

test("hashes match their inputs", () => {
  const sha256 = (text: unknown): string => createHash("sha256").update(String(text)).digest("hex");
  for (const [type, sample] of samples) {
    const { hash, email, seed, commitment } = data(sample);
    if (hash !== undefined) expect(hash, type).toBe(sha256(email));
    if (seed !== undefined) expect(commitment, type).toBe(sha256(seed));
  }
});

test("each sample id identifies one resource only", () => {
  expect(new Set(knownIds).size).toBe(knownIds.length);
});
