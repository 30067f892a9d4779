import { z } from "@hono/zod-openapi";
import type { ApiKeyRow } from "#db/schema/sites.ts";
import { Id, Time, Tracked } from "#worker/lib/schemas/common.ts";

/** The first path segments of operations that accept a key, plus `roles`, which changing roles also requires. */
export const KEY_AREAS = [
  ...[
    "accesscode",
    "account",
    "billing",
    "bundle",
    "chat",
    "claimstatus",
    "dataprovider",
    "event",
    "insights",
    "invite",
    "leaderboard",
    "media",
    "navigation",
    "overlay",
  ],
  ...[
    "page",
    "personalization",
    "playlist",
    "poll",
    "qna",
    "quest",
    "roles",
    "rundown",
    "schedule",
    "shopify",
    "site",
    "stats",
    "stream",
    "streamprovider",
    "subscription",
    "themes",
    "video",
    "wallet",
  ],
  "webhooks",
];

const KeyRole = z
  .string()
  .max(100)
  .regex(
    new RegExp(`^(\\*|(${KEY_AREAS.join("|")}):(read|write))$`),
    "`*`, `<area>:read` or `<area>:write`, where the area is the first segment of a path that accepts keys, or `roles`",
  )
  .openapi({ example: "overlay:write" });

const editable = {
  name: z.string().trim().min(1).max(200).openapi({ example: "Scoreboard" }),
  clientName: z.string().trim().min(1).max(200).nullable().describe("Who uses the key").openapi({ example: "Match-day desk" }),
  roles: z
    .array(KeyRole)
    .min(1)
    .max(100)
    .describe(
      "What the key may do: `*` for everything, `<area>:write` (includes reading) or `<area>:read`; the area is the first path segment. Changing account roles requires `roles:write` in addition to `account:write` or `invite:write`; relaxing security settings requires it in addition to `site:write`",
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
    // A key may have roles for areas that no longer exist.
    roles: z.array(z.string()).describe("What the key may do"),
    createdBy: Id.nullable().describe("The account that created it; null for a site's first key, which the operator creates with the site"),
    previousKeyExpires: Time.nullable().describe("Until then, the previous key works too"),
    ...Tracked,
  })
  .openapi("ApiKey");

export const ApiKeyWithSecret = ApiKey.extend({ key: z.string().describe("The `Tifo-Developer-Key`; shown only once") }).openapi(
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
    createdBy: row.createdBy,
    previousKeyExpires: row.previousExpires,
    created: row.created,
    modified: row.modified,
  } satisfies z.output<typeof ApiKey>;
}
