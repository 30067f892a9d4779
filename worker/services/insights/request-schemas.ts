import { z } from "@hono/zod-openapi";
import { fromQuery, Time } from "#worker/lib/schemas/common.ts";

const CURSOR = /^(\d{1,15})\.(\d{1,15})$/;

export const RequestListQuery = z.strictObject({
  status: z.enum(["1xx", "2xx", "3xx", "4xx", "5xx"]).optional().openapi({ description: "Only responses of this class", example: "4xx" }),
  route: z
    .string()
    .min(1)
    .max(200)
    .optional()
    .openapi({ description: "Only requests of this route, as it is listed", example: "/overlay/v1/broadcast/{id}" }),
  limit: fromQuery(z.number().int().min(1).max(200)).default(50).openapi({ description: "At most 200", example: 50 }),
  cursor: z
    .string()
    .max(40)
    .regex(CURSOR, "Not a cursor of this list")
    .transform((text) => {
      const [, at, number] = CURSOR.exec(text) ?? [];
      return { at: Number(at), number: Number(number) };
    })
    .optional()
    .openapi({ type: "string", description: "From `pagination.next`" }),
});
export type RequestListQuery = z.output<typeof RequestListQuery>;

export const LoggedRequest = z
  .object({
    requestId: z.string().describe("As in the response's `Tifo-Request-Id` and the operator's log"),
    at: Time,
    method: z.string().openapi({ example: "POST" }),
    route: z.string().nullable().describe("The operation's path with its parameters' names; null if the request matched none"),
    operationId: z.string().nullable().describe("Null if the request matched no operation"),
    status: z.number().int().openapi({ example: 200 }),
    ms: z.number().int().describe("How long the response took"),
    code: z.string().nullable().describe("The error's `code`; null without an error"),
  })
  .openapi("LoggedRequest");
export type LoggedRequest = z.output<typeof LoggedRequest>;

export const RequestList = z
  .object({
    results: z.array(LoggedRequest).describe("The newest first"),
    recording: z.boolean().describe("False if the operator has turned the log off"),
    requests: z.number().int().describe("How many requests the site had in the last hour"),
    share: z
      .number()
      .min(0)
      .max(1)
      .describe("The share of these that was recorded: 1, unless there were so many that the log samples them"),
    pagination: z.object({
      limit: z.number().int(),
      pageResults: z.number().int(),
      next: z.string().nullable().describe("Path and query of the next page"),
      self: z.string(),
    }),
  })
  .openapi("RequestList");
