import { sql } from "drizzle-orm";
import { index, integer, sqliteTable, text, uniqueIndex } from "drizzle-orm/sqlite-core";
import { WEBHOOK_DISABLED_REASONS, WEBHOOK_KINDS, type WebhookService } from "#db/enums.ts";
import { id, siteId, time, tracked } from "./columns.ts";

/** Endpoints that receive a site's events: the site's own (at most one), and programmatic ones that other systems add for one service each. */
export const webhookEndpoints = sqliteTable(
  "webhook_endpoints",
  {
    id: id(),
    siteId: siteId(),
    kind: text("kind", { enum: WEBHOOK_KINDS }).notNull(),
    url: text("url").notNull(),
    services: text("services", { mode: "json" }).$type<WebhookService[]>().notNull(),
    enabled: integer("enabled", { mode: "boolean" }).notNull(),
    /** Why and when Tifo disabled it; null once it is enabled again. */
    disabledReason: text("disabled_reason", { enum: WEBHOOK_DISABLED_REASONS }),
    disabledAt: time("disabled_at"),
    /** Sealed rather than hashed, because every delivery is signed with it. */
    secretSealed: text("secret_sealed").notNull(),
    /** Sealed JSON: rotated secrets, each with the time until which it also signs; and the latest of these times. */
    previousSecretSealed: text("previous_secret_sealed"),
    previousSecretExpires: time("previous_secret_expires"),
    ...tracked(),
  },
  (table) => [
    index("webhook_endpoints_site").on(table.siteId, table.created, table.id),
    uniqueIndex("webhook_endpoints_site_own")
      .on(table.siteId)
      .where(sql`kind = 'site'`),
  ],
);

export type WebhookRow = typeof webhookEndpoints.$inferSelect;
