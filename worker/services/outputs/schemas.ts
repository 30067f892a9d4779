import { z } from "@hono/zod-openapi";
import type { OutputRow } from "#db/schema/streams/outputs.ts";
import { fromQuery, Id, Time, Tracked } from "#worker/lib/schemas/common.ts";

export const ChannelParam = z.object({ channelId: Id });
export const OutputParams = z.object({ channelId: Id, id: Id });

const fields = {
  name: z.string().trim().min(1).max(200).describe("Where it is used").openapi({ example: "OBS in the studio" }),
  expirationTime: Time.nullable().describe("When it stops working, in milliseconds since 1970 UTC; null: never"),
};

export const OutputInput = z
  .strictObject({ ...fields, expirationTime: fields.expirationTime.default(null) })
  .openapi("OutputInput", { example: { name: "OBS in the studio", expirationTime: null } });

export const Output = z
  .object({
    _id: Id,
    siteId: Id,
    channelId: Id,
    ...fields,
    createdBy: Id.nullable().describe("The account that created it; null: a developer key"),
    ...Tracked,
  })
  .openapi("Output");

export const OutputWithToken = Output.extend({
  token: z.string().describe("Shown only once"),
  url: z.string().describe("The page for the mixer, with the token; shown only once"),
}).openapi("OutputWithToken");

export const OutputPageQuery = z.strictObject({
  token: z.string().min(1).max(100).describe("The output's token").openapi({ example: "tifo_out_demo" }),
  safeArea: fromQuery(z.number().int().min(0).max(400))
    .optional()
    .describe("Pixels between the overlays and the edge of the picture; 54 by default, the title-safe area of 1080 lines"),
  mode: z.enum(["light", "dark"]).optional().describe("The mode of the channel's theme; `light` by default"),
  language: z
    .string()
    .regex(/^(?=.{2,35}$)[A-Za-z]{2,3}(-[A-Za-z0-9]{1,8})*$/, "A BCP 47 language tag")
    .optional()
    .describe("The language of the overlays' own texts; by default that of the browser"),
});

export type OutputInput = z.output<typeof OutputInput>;

export function toOutput(row: OutputRow) {
  return {
    _id: row.id,
    siteId: row.siteId,
    channelId: row.channelId,
    name: row.name,
    expirationTime: row.expires,
    createdBy: row.createdBy,
    created: row.created,
    modified: row.modified,
  } satisfies z.output<typeof Output>;
}
