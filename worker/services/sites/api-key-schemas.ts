import { z } from "@hono/zod-openapi";
import type { ApiKeyRow } from "#db/schema/index.ts";
import { Id, Time, Tracked } from "#worker/lib/schemas/common.ts";

/** The first segments of the paths that take a key, and `roles`: what changes roles needs that one as well. */
export const KEY_AREAS = [
  ...["accesscode", "account", "billing", "bundle", "claimstatus", "dataprovider", "event", "invite", "media", "navigation", "overlay"],
  ...[
    "page",
    "personalization",
    "playlist",
    "poll",
    "quest",
    "roles",
    "site",
    "stream",
    "streamprovider",
    "subscription",
    "themes",
    "video",
  ],
  "webhooks",
];

const KeyRole = z
  .string()
  .max(100)
  .regex(
    new RegExp(`^(\\*|(${KEY_AREAS.join("|")}):(read|write))$`),
    "`*`, `<area>:read` or `<area>:write`, where the area is the first part of a path that takes keys, or `roles`",
  )
  .openapi({ example: "overlay:write" });

const editable = {
  name: z.string().trim().min(1).max(200).openapi({ example: "Scoreboard" }),
  clientName: z.string().trim().min(1).max(200).nullable().describe("Whose key it is").openapi({ example: "Match-day desk" }),
  roles: z
    .array(KeyRole)
    .min(1)
    .max(100)
    .describe(
      "What it may do: `*` all, `<area>:write` (which includes reading) or `<area>:read`; an area is the first part of a path. `roles:write` is needed, beside `account:write` or `invite:write`, to change the roles of accounts",
    ),
  expirationTime: Time.nullable().describe("Milliseconds since 1970 UTC; null: never"),
};

export const ApiKeyInput = z
  .strictObject({
    ...editable,
    clientName: editable.clientName.default(null),
    roles: editable.roles.default(["*"]),
    expirationTime: editable.expirationTime.default(null),
  })
  .openapi("ApiKeyInput", { example: { name: "Scoreboard", clientName: "Match-day desk", roles: ["overlay:write"] } });

export const ApiKey = z
  .object({
    _id: Id,
    siteId: Id,
    ...editable,
    // A key outlives an area.
    roles: z.array(z.string()).describe("What it may do"),
    previousKeyExpires: Time.nullable().describe("Until then, the key before the last rotation works too"),
    ...Tracked,
  })
  .openapi("ApiKey");

export const ApiKeyWithSecret = ApiKey.extend({ key: z.string().describe("`Tifo-Developer-Key`; shown this once") }).openapi(
  "ApiKeyWithSecret",
);

export type ApiKeyInput = z.output<typeof ApiKeyInput>;

export function toApiKey(row: ApiKeyRow) {
  return {
    _id: row.id,
    siteId: row.siteId,
    name: row.name,
    clientName: row.clientName,
    roles: row.roles,
    expirationTime: row.expires,
    previousKeyExpires: row.previousExpires,
    created: row.created,
    modified: row.modified,
  } satisfies z.output<typeof ApiKey>;
}
