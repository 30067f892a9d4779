import { z } from "@hono/zod-openapi";
import { Id, Time } from "../../http/schemas.ts";

export const ChannelParam = z.object({ channelId: Id });

/** What a browser can say on a socket's URL. */
export const ConnectQuery = z.strictObject({
  clientId: Id.describe("The site"),
  ticket: z.string().max(2000).optional().describe("One-use, from `POST /realtime/v1/tickets`; without it the viewer is anonymous"),
  deviceId: z.string().min(1).max(200).optional().describe("Counts the device once a day in the total views"),
  epoch: z.string().max(64).optional().describe("Of the `welcome`, when resuming"),
  seq: z.coerce.number().int().min(0).optional().describe("The last `upTo`, when resuming"),
});

/** A caller of the stream gives the client id in the header or, like a browser, in the query. */
export const StreamQuery = ConnectQuery.partial({ clientId: true });

export const TicketInput = z.strictObject({ channelId: Id }).openapi("TicketInput");

export const Ticket = z.object({ ticket: z.string(), expiresAt: Time }).openapi("Ticket");
