import { expect, test } from "vitest";
import { draft, validCall } from "#test/contract-requests.ts";
import { newSite, send, strongestCaller } from "#test/harness.ts";
import { operationOf, successStatuses } from "#test/openapi.ts";

/**
 * Round trips to D1 and their statements, including credentials and outbox: for the first call on a site that this isolate hasn't seen,
 * and for the next. These are counters without noise; explain every increase in the commit.
 */
const EXPECTED: Record<string, { first: string; next: string }> = {
  getPage: { first: "1 of 2", next: "1 of 1" },
  listPages: { first: "1 of 3", next: "1 of 2" },
  listChannels: { first: "1 of 3", next: "1 of 2" },
  getContentById: { first: "2 of 12", next: "1 of 10" },
  getConfiguration: { first: "1 of 4", next: "1 of 3" },
  getSite: { first: "1 of 2", next: "1 of 1" },
  getAccount: { first: "1 of 2", next: "1 of 2" },
  listAccounts: { first: "1 of 3", next: "1 of 3" },
  getOverlay: { first: "1 of 2", next: "1 of 2" },
  listOverlays: { first: "1 of 3", next: "1 of 3" },
  getReceipt: { first: "1 of 2", next: "1 of 2" },
  listBroadcasts: { first: "1 of 3", next: "1 of 3" },
  createOverlay: { first: "2 of 3", next: "2 of 3" },
  updateOverlay: { first: "2 of 4", next: "2 of 4" },
  deleteOverlay: { first: "2 of 6", next: "2 of 6" },
  createPage: { first: "2 of 3", next: "2 of 3" },
  updatePage: { first: "2 of 4", next: "2 of 4" },
  // Includes everything that may reference a channel, and its events.
  deletePage: { first: "2 of 29", next: "2 of 29" },
  broadcastOverlay: { first: "2 of 5", next: "2 of 5" },
  broadcastOverlayToTag: { first: "2 of 5", next: "2 of 5" },
  clearBroadcasts: { first: "2 of 5", next: "2 of 5" },
  createTicket: { first: "1 of 2", next: "1 of 2" },
  listEvents: { first: "1 of 1", next: "1 of 1" },
  getHealth: { first: "0 of 0", next: "0 of 0" },
  getJwks: { first: "0 of 0", next: "0 of 0" },
};

test.for(Object.entries(EXPECTED))("%s makes no more round trips to D1 than necessary", async ([operationId, expected]) => {
  const operation = operationOf(operationId);
  const site = await newSite();
  const counts: string[] = [];
  for (let call = 0; call < 2; call++) {
    const { url, headers, body } = draft(
      site,
      operation,
      await validCall(site, operation),
      await site.headersOf(strongestCaller(operation)),
    );
    const { log, status, text } = await send(operation, url, { method: operation.method.toUpperCase(), headers, body });
    expect(successStatuses(operation), text).toContain(status);
    counts.push(`${log.d1.roundTrips} of ${log.d1.statements}`);
  }
  expect({ first: counts[0], next: counts[1] }).toEqual(expected);
});
