import type { QueuedEvent } from "./webhook-endpoint.protocol.ts";

/** An event to send now. */
export interface DueDelivery extends QueuedEvent {
  number: number;
  /** Null if it has a row of its own. */
  page: number | null;
}

export type DueRow = {
  number: number;
  event_id: string;
  type: string;
  resource: string;
  service: string;
  event: string;
  account: string | null;
  method: string | null;
  origin_path: string | null;
};

export const DUE_COLUMNS = "number, event_id, type, resource, service, event, account, method, origin_path";

/** As many rows as fit, but at least one. Reads the others too, because a cursor that isn't read to its end holds a lock on its tables. */
export function readUpTo(rows: Iterable<DueRow>, bytes: number): DueDelivery[] {
  const taken: DueDelivery[] = [];
  let room = bytes;
  for (const row of rows) {
    if (room > 0) taken.push(toDue(row));
    room -= row.event.length;
  }
  return taken;
}

function toDue({ event_id, origin_path, event, ...row }: DueRow): DueDelivery {
  return { ...row, page: null, id: event_id, eventData: event, originPath: origin_path };
}
