import { index, integer, primaryKey, sqliteTable, text } from "drizzle-orm/sqlite-core";
import { FIRING_OUTCOMES } from "#db/enums.ts";
import type { JsonRule } from "#db/types.ts";
import { id, siteId, time, tracked } from "./columns.ts";

/** Rules that run an action when a provider's event matches. */
export const automationRules = sqliteTable(
  "automation_rules",
  {
    id: id(),
    siteId: siteId(),
    name: text("name").notNull(),
    channelId: text("channel_id"),
    jsonRule: text("json_rule", { mode: "json" }).$type<JsonRule>().notNull(),
    active: integer("active", { mode: "boolean" }).notNull(),
    /** Evaluated by the viewers' pages instead of the server. */
    clientRule: integer("client_rule", { mode: "boolean" }).notNull(),
    ...tracked(),
  },
  (table) => [
    index("automation_rules_site_created").on(table.siteId, table.created, table.id),
    index("automation_rules_site_client").on(table.siteId, table.clientRule, table.created, table.id),
  ],
);

/** The outcome of each rule that an event fired, kept for as long as the event. */
export const ruleFirings = sqliteTable(
  "rule_firings",
  {
    eventId: text("event_id").notNull(),
    ruleId: text("rule_id").notNull(),
    siteId: siteId(),
    ruleName: text("rule_name").notNull(),
    outcome: text("outcome", { enum: FIRING_OUTCOMES }).notNull(),
    /** Why it failed, or null. */
    message: text("message"),
    /** The broadcast or channel that it created, or null. */
    madeId: text("made_id"),
    /** When it was, or is, due. */
    due: time("due").notNull(),
    created: time("created").notNull(),
  },
  (table) => [
    primaryKey({ columns: [table.eventId, table.ruleId] }),
    index("rule_firings_rule").on(table.siteId, table.ruleId, table.created),
    index("rule_firings_created").on(table.created),
  ],
);

/** The channels whose rules are paused. */
export const rulePauses = sqliteTable(
  "rule_pauses",
  { channelId: text("channel_id").primaryKey(), siteId: siteId(), since: time("since").notNull() },
  (table) => [index("rule_pauses_site").on(table.siteId)],
);

export type RuleRow = typeof automationRules.$inferSelect;

export type FiringRow = typeof ruleFirings.$inferSelect;

export type RulePauseRow = typeof rulePauses.$inferSelect;
