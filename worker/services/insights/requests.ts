import { orUnavailable, schedulerOf } from "#worker/durable-objects/stubs.ts";
import type { RequestPage, RequestQuery } from "#worker/durable-objects/scheduler/request-log.protocol.ts";
import type { Ctx } from "#worker/services/core/context.ts";
import type { LoggedRequest, RequestListQuery } from "./request-schemas.ts";

interface Requests {
  results: LoggedRequest[];
  recording: boolean;
  requests: number;
  share: number;
  /** The position of the next page; null on the last one. */
  cursor: string | null;
}

/** Whether the deployment has request logs. */
export function recordsRequests(env: Env): boolean {
  return env.TIFO_REQUEST_LOG !== "off";
}

/** The site's requests of the last hour, the newest first. */
export async function listRequests(ctx: Ctx, { status, route, limit, cursor }: RequestListQuery): Promise<Requests> {
  await ctx.caller();
  if (!recordsRequests(ctx.env)) return { results: [], recording: false, requests: 0, share: 0, cursor: null };
  const { rows, requests, recorded } = await readPage(ctx, {
    // One extra row shows whether there is a next page.
    ...{ limit: limit + 1, route: route ?? null, before: cursor ?? null },
    statusClass: status === undefined ? null : Number(status.slice(0, 1)),
  });
  const page = rows.slice(0, limit);
  const last = rows.length > limit ? page.at(-1) : undefined;
  return {
    results: page.map(({ number: _, ...entry }) => entry),
    recording: true,
    requests,
    share: requests === 0 ? 1 : Math.round((1000 * recorded) / requests) / 1000,
    cursor: last ? `${String(last.at)}.${String(last.number)}` : null,
  };
}

function readPage(ctx: Ctx, query: RequestQuery): Promise<RequestPage> {
  return orUnavailable(schedulerOf(ctx.env, ctx.siteId).requests(query), "The request log could not be read");
}
