import type { SQLiteColumn, SQLiteTable } from "drizzle-orm/sqlite-core";
import { emailProofs, intents, passwordResets, sessions, signInFailures, signInPlaces } from "#db/schema/accounts.ts";
import { ruleFirings } from "#db/schema/automation-rules.ts";
import { tvCodes } from "#db/schema/commerce/access-codes.ts";
import { memberExports } from "#db/schema/commerce/exports.ts";
import { sentMails } from "#db/schema/custom-email.ts";
import { providerEvents } from "#db/schema/data-providers.ts";
import { chatQueue, chatRooms } from "#db/schema/engagement/chat.ts";
import { outbox } from "#db/schema/events.ts";
import { effectFailures } from "#db/schema/operations.ts";
import { broadcasts } from "#db/schema/overlays.ts";
import { rundownOperators } from "#db/schema/rundowns.ts";
import { sandboxes, sandboxMails } from "#db/schema/sandboxes.ts";
import { siteArchives } from "#db/schema/site-archives.ts";
import { streamDrafts } from "#db/schema/streams/streams.ts";

const bySite = [
  signInFailures,
  passwordResets,
  emailProofs,
  intents,
  tvCodes,
  outbox,
  sentMails,
  memberExports,
  siteArchives,
  streamDrafts,
  broadcasts,
  rundownOperators,
  ruleFirings,
  providerEvents,
  chatRooms,
  chatQueue,
  effectFailures,
  sandboxMails,
];

/** The tables with rows of a site that no archive of it has, and their column with the site's id; `sandboxes` itself is the last. */
export const UNARCHIVED: { table: SQLiteTable; site: SQLiteColumn }[] = [
  ...bySite.map((table) => ({ table, site: table.siteId })),
  { table: sessions, site: sessions.audience },
  { table: signInPlaces, site: signInPlaces.audience },
  { table: sandboxes, site: sandboxes.siteId },
];
