import { reconnectDelay } from "../../sdk/channel/backoff.ts";
import { ok, type Schemas, TifoProblem } from "../../sdk/client/index.ts";
import { impatientRandom, type Io, jsonLine, plain } from "./io.ts";
import type { Site } from "./session.ts";

export interface EventOptions {
  /** The last sequence that isn't wanted; by default, that of the latest event. */
  after: number | undefined;
  types: string[] | undefined;
  /** Seconds. */
  interval: number;
  count: number;
  json: boolean;
}

const PAGE = 200;

/** Prints events in order until there are `count` of them, or until the user stops it. */
export async function followEvents({ client }: Site, options: EventOptions, io: Io): Promise<void> {
  const { types, interval, count, json } = options;
  const read = (query: { after: number; limit: number }) =>
    untilConnected(io, () =>
      ok(
        client.api.GET("/webhooks/v1/events", {
          params: { query: { ...query, ...(types && { types: types.join(",") }) } },
          signal: io.signal,
        }),
      ),
    );
  let after = options.after ?? (await read({ after: 0, limit: 1 })).head;
  let left = count;
  while (!io.signal.aborted) {
    const page = await read({ after, limit: Math.min(PAGE, left) });
    // Starting at 0 means "the oldest that is stored".
    if (after > 0 && page.oldest > after + 1) io.note(`Events ${after + 1} to ${page.oldest - 1} are no longer stored.`);
    for (const event of page.results) io.out(json ? jsonLine(event) : describe(event));
    left -= page.results.length;
    if (left <= 0) return;
    const isUpToDate = page.after >= page.head;
    after = Math.max(after, page.after);
    if (isUpToDate) await io.sleep(interval * 1000);
  }
}

function describe({ created, sequence, type, resource, actor }: Schemas["SiteEvent"]): string {
  return plain(`${new Date(created).toISOString()}  ${sequence}  ${type}  ${resource}  ${actor}`);
}

/** Repeats a read until the server responds. A rejection, such as that of a revoked key, ends it. */
async function untilConnected<T>(io: Io, read: () => Promise<T>): Promise<T> {
  for (let attempt = 0; ; attempt++) {
    try {
      const result = await read();
      if (attempt > 0) io.note("Connected again.");
      return result;
    } catch (error) {
      if (io.signal.aborted || !isTemporary(error)) throw error;
      if (attempt === 0) io.note(`The connection is lost (${plain(error.message)}). Retrying.`);
      await io.sleep(Math.max(reconnectDelay(attempt, impatientRandom), 1000 * (error.retryAfter ?? 0)));
    }
  }
}

function isTemporary(error: unknown): error is TifoProblem {
  return error instanceof TifoProblem && (error.status === 0 || error.status === 429 || error.status >= 500);
}
