import { z } from "@hono/zod-openapi";
import { fromQuery, Id, Time } from "#worker/lib/schemas/common.ts";

export const ChannelParam = z.object({ channelId: Id });

const connection = {
  ticket: z.string().max(2000).optional().describe("One-use, from `POST /realtime/v1/tickets`; without it the viewer is anonymous"),
  deviceId: z.string().min(1).max(200).optional().describe("Counts the device once a day in the total views"),
  epoch: z.string().max(64).optional().describe("Of the `welcome`, when resuming"),
  seq: fromQuery(z.number().int().min(0)).optional().describe("The last `upTo`, when resuming"),
};

/** A position has both parts. */
function requirePosition({ epoch, seq }: { epoch?: string | undefined; seq?: number | undefined }, check: z.RefinementCtx): void {
  if (epoch !== undefined && seq === undefined) check.addIssue({ code: "custom", message: "Required together with epoch", path: ["seq"] });
  if (seq !== undefined && epoch === undefined) check.addIssue({ code: "custom", message: "Required together with seq", path: ["epoch"] });
}

const clientId = Id.describe("The site");

/** What a browser can send in a socket's URL. */
export const ConnectQuery = z.strictObject({ clientId, ...connection }).superRefine(requirePosition);

/** A caller of the stream sends the client id in the header or, like a browser, in the query. */
export const StreamQuery = z.strictObject({ clientId: clientId.optional(), ...connection }).superRefine(requirePosition);

export const TicketInput = z.strictObject({ channelId: Id }).openapi("TicketInput");

export const Ticket = z.object({ ticket: z.string(), expiresAt: Time }).openapi("Ticket");
