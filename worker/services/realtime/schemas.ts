import { z } from "@hono/zod-openapi";
import { fromQuery, Id, QueryBoolean, Time } from "#worker/lib/schemas/common.ts";

export const ChannelParam = z.object({ channelId: Id });

const connection = {
  ticket: z
    .string()
    .max(2000)
    .optional()
    .describe(
      "A single-use ticket from `POST /realtime/v1/tickets`, or the token of an output (`POST /overlay/v1/outputs`); without it the viewer is anonymous",
    ),
  deviceId: z.string().min(1).max(200).optional().describe("Counts the device once per day in the total views"),
  epoch: z.string().max(64).optional().describe("The `epoch` of the `welcome` frame, when resuming"),
  language: z
    .string()
    .max(35)
    .regex(/^[A-Za-z]{2,3}(-[A-Za-z0-9]{1,8})*$/, "A BCP 47 language tag")
    .optional()
    .describe("The language that chat messages are translated into, if the room offers it; by default that of Accept-Language"),
  seq: fromQuery(z.number().int().min(0)).optional().describe("The last `upTo` received, when resuming"),
};

/** A position needs both parts. */
function requirePosition({ epoch, seq }: { epoch?: string | undefined; seq?: number | undefined }, check: z.RefinementCtx): void {
  if (epoch !== undefined && seq === undefined) check.addIssue({ code: "custom", message: "Required together with epoch", path: ["seq"] });
  if (seq !== undefined && epoch === undefined) check.addIssue({ code: "custom", message: "Required together with seq", path: ["epoch"] });
}

const clientId = Id.describe("The site");

/** The query of a WebSocket URL. */
export const ConnectQuery = z.strictObject({ clientId, ...connection }).superRefine(requirePosition);

const ChatPosition = fromQuery(z.number().int().min(0));

/** Stream clients send the client id in the header or, like browsers, in the query. */
export const StreamQuery = z
  .strictObject({
    clientId: clientId.optional(),
    ...connection,
    chat: QueryBoolean.optional().describe("Whether to join the channel's chat: the stream then starts with `chat.history`"),
    chatAfter: ChatPosition.optional().describe("The last `chatSeq` received, when resuming the chat; with `chatRevision`"),
    chatRevision: ChatPosition.optional().describe("The last `revision` received, when resuming the chat; with `chatAfter`"),
  })
  .superRefine(requirePosition);

export const TicketInput = z.strictObject({ channelId: Id }).openapi("TicketInput");

export const Ticket = z.object({ ticket: z.string(), expiresAt: Time }).openapi("Ticket");
