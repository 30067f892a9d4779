import { getTableColumns, getTableName } from "drizzle-orm";
import { getTableConfig, type SQLiteColumn, type SQLiteTable } from "drizzle-orm/sqlite-core";
import { emailProofs, intents, passwordResets, sessions, signInFailures, signInPlaces } from "#db/schema/accounts.ts";
import { ruleFirings } from "#db/schema/automation-rules.ts";
import { tvCodes } from "#db/schema/commerce/access-codes.ts";
import { memberExports } from "#db/schema/commerce/exports.ts";
import { sentMails } from "#db/schema/custom-email.ts";
import { providerEvents } from "#db/schema/data-providers.ts";
import { chatQueue, chatRooms } from "#db/schema/engagement/chat.ts";
import { idempotencyKeys, outbox } from "#db/schema/events.ts";
import { insightCursors } from "#db/schema/insights.ts";
import { effectFailures } from "#db/schema/operations.ts";
import { broadcasts } from "#db/schema/overlays.ts";
import { rundownOperators } from "#db/schema/rundowns.ts";
import { siteArchives } from "#db/schema/site-archives.ts";
import { sites } from "#db/schema/sites.ts";
import { streamDrafts } from "#db/schema/streams/streams.ts";
import { videoViews } from "#db/schema/videos.ts";
import { ARCHIVED } from "#worker/services/site-archives/tables.ts";

/** How a table's rows of a site are found, as SQL. */
export interface MovedTable {
  name: string;
  columns: string[];
  integers: string[];
  key: string[];
  /** Whether a row is the site's; `row` is `NEW`, `OLD` or the table's name. The id is a literal, because triggers have no parameters. */
  owned(row: string, siteId: string): string;
}

type Owned = MovedTable["owned"];

const bySite: Owned = (row, siteId) => `${row}.site_id = '${siteId}'`;
const byAudience: Owned = (row, siteId) => `${row}.audience = '${siteId}'`;

function moved(table: SQLiteTable, owned: Owned = bySite): MovedTable {
  const columns = Object.values<SQLiteColumn>(getTableColumns(table));
  const single = columns.filter(({ primary }) => primary).map(({ name }) => name);
  const [composite] = getTableConfig(table).primaryKeys;
  return {
    name: getTableName(table),
    columns: columns.map(({ name }) => name),
    integers: columns.filter((column) => !column.getSQLType().startsWith("text")).map(({ name }) => name),
    key: composite ? composite.columns.map(({ name }) => name) : single,
    owned,
  };
}

/** What is copied while the site is in use, referenced tables first: all that it has, in contrast to an archive. */
export const MOVED: MovedTable[] = [
  ...ARCHIVED.filter(({ table }) => table !== sites).map(({ table }) => moved(table)),
  moved(sessions, byAudience),
  moved(signInPlaces, byAudience),
  ...[signInFailures, passwordResets, emailProofs, intents, tvCodes, sentMails, memberExports, siteArchives].map((table) => moved(table)),
  ...[streamDrafts, broadcasts, rundownOperators, ruleFirings, providerEvents, chatRooms, chatQueue].map((table) => moved(table)),
  moved(effectFailures),
  // After the videos.
  moved(videoViews, (row, siteId) => `${row}.video_id in (select id from videos where site_id = '${siteId}')`),
  moved(insightCursors, (row, siteId) => `instr(${row}.source, '${siteId}') > 0`),
  moved(idempotencyKeys),
];

/** The site's own row, which makes the others visible, and its events that aren't in its log yet: only once nothing writes any more. */
export const SITE_ROW = moved(sites, (row, siteId) => `${row}.id = '${siteId}'`);
export const OUTBOX = moved(outbox);

/** Tables of which a move takes nothing, and why. */
export const STAYS: Record<string, string> = {
  global_accounts: "belongs to the deployment, not to a site",
  setup_links: "as for global_accounts",
  search_texts: "triggers write it with the rows that it is about",
  search_letters: "is the same everywhere",
  dead_letters: "as for global_accounts",
  cron_runs: "as for global_accounts",
  backup_runs: "as for global_accounts",
  site_shards: "says where the site is",
  site_slugs: "as for site_shards",
  site_moves: "is about the move",
  site_move_changes: "as for site_moves",
  site_move_pass: "as for site_moves",
  alerts: "as for global_accounts",
  request_counts: "as for global_accounts",
  sandboxes: "a sandbox isn't moved",
  sandbox_mails: "as for sandboxes",
};
