import { z } from "@hono/zod-openapi";
import { Id, Time } from "#worker/lib/schemas/common.ts";
import { PERSONAL_DATA } from "./export.ts";

const Records = z.array(z.record(z.string(), z.unknown()));

/** One list per kind of data. Their records have the fields of the operations that read them. */
export const AccountExport = z
  .object({
    _id: Id,
    siteId: Id,
    exportedAt: Time,
    data: z.object(Object.fromEntries(PERSONAL_DATA.map(({ name, description }) => [name, Records.describe(description)]))),
  })
  .openapi("AccountExport");
