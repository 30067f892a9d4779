import { setTimeout as sleep } from "node:timers/promises";

/** What a lane knows from the server's responses, compared with what the server has. */
export interface Outcome {
  acknowledged: number;
  /** What is lost, doubled, out of order or otherwise not as acknowledged. */
  wrong: string[];
}

/** One kind of work that clients do again and again. */
export interface Lane {
  readonly name: string;
  /** The time between two steps. */
  readonly pauseMs: number;
  prepare(): Promise<void>;
  step(): Promise<void>;
  /** Called on a server without adversity, after the last step. */
  compare(): Promise<Outcome>;
  close?(): void;
}

/** What is only in one of two lists, and what is in the second more than once. */
export function differences(expected: Iterable<string>, found: Iterable<string>): string[] {
  const copies = Map.groupBy(found, (id) => id);
  return [
    ...[...new Set(expected)].filter((id) => !copies.has(id)).map((id) => `lost: ${id}`),
    ...[...copies].filter(([, { length }]) => length > 1).map(([id, { length }]) => `${length} times: ${id}`),
  ];
}

/** Keeps a client connected, whatever ends its connection, until `isOver`. */
export async function keepConnected(client: { connect(): Promise<void>; ended(): Promise<void> }, isOver: () => boolean): Promise<void> {
  while (!isOver()) {
    await client.connect().then(
      () => client.ended(),
      () => sleep(200),
    );
  }
}
