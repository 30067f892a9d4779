import { getTableColumns, getTableName } from "drizzle-orm";
import type { SQLiteColumn, SQLiteTable } from "drizzle-orm/sqlite-core";
import { accountLinks, accounts, recoveryCodes, totpSecrets, userProfiles } from "#db/schema/accounts.ts";
import { viewerActivity } from "#db/schema/activity.ts";
import { automationRules, rulePauses } from "#db/schema/automation-rules.ts";
import { calendarCategories, calendarEvents } from "#db/schema/calendar.ts";
import { channelTemplates } from "#db/schema/channel-templates.ts";
import { chatBans, chatSettings } from "#db/schema/engagement/chat.ts";
import { accessCodes } from "#db/schema/commerce/access-codes.ts";
import { charges, connectedAccounts, recurringSubscriptions, refunds } from "#db/schema/commerce/billing.ts";
import { bundles } from "#db/schema/commerce/bundles.ts";
import { donations } from "#db/schema/commerce/donations.ts";
import { accountEntitlements } from "#db/schema/commerce/entitlements.ts";
import { shopConnections, shopOrders } from "#db/schema/commerce/shop.ts";
import { subscriptions } from "#db/schema/commerce/subscriptions.ts";
import { wallets, walletTransactions } from "#db/schema/commerce/wallets.ts";
import { mailSenders, receiptTemplates } from "#db/schema/custom-email.ts";
import { dataProviders } from "#db/schema/data-providers.ts";
import { devices, watchTime } from "#db/schema/devices.ts";
import { graphics } from "#db/schema/graphics.ts";
import { insightHours, insightReach } from "#db/schema/insights.ts";
import { invites, registerInvites } from "#db/schema/invites.ts";
import { leaderboards } from "#db/schema/engagement/leaderboards.ts";
import { media } from "#db/schema/media.ts";
import { navigations } from "#db/schema/navigation.ts";
import { outputs } from "#db/schema/streams/outputs.ts";
import { overlays } from "#db/schema/overlays.ts";
import { pages } from "#db/schema/pages.ts";
import { panels } from "#db/schema/panels.ts";
import { playbackKeys } from "#db/schema/streams/playback-keys.ts";
import { playlists } from "#db/schema/playlists.ts";
import { pollResponses, polls } from "#db/schema/engagement/polls.ts";
import { questions, questionUpvotes } from "#db/schema/engagement/questions.ts";
import { claims, questReports, quests } from "#db/schema/engagement/quests.ts";
import { rundowns, rundownTakes } from "#db/schema/rundowns.ts";
import { scheduledActions } from "#db/schema/schedule.ts";
import { apiKeys, sites } from "#db/schema/sites.ts";
import { keyPlays, statEntities, statFacts, statHistory } from "#db/schema/stats.ts";
import { streamProviders, streams } from "#db/schema/streams/streams.ts";
import { siteThemes, themes } from "#db/schema/themes.ts";
import { videos, videoTotals } from "#db/schema/videos.ts";
import { webhookEndpoints } from "#db/schema/webhooks.ts";
import {
  freshAuthorization,
  freshProviderSecret,
  freshRaffle,
  freshSigningSecret,
  noPassword,
  noStreamKey,
  type Replace,
} from "./secrets.ts";

/** How a table's rows of a site are archived. */
export interface ArchivedTable {
  table: SQLiteTable;
  /** The column with the site's id. */
  site: SQLiteColumn;
  /** Columns that only a deployment with the same secret can read; elsewhere they are replaced, or their rows left out. */
  secret: SQLiteColumn[];
  replace: Replace | null;
  /** Columns that point outside of the site. */
  blank: SQLiteColumn[];
  /** Rows give access, and are deleted to end it: an import adds none to a site that exists, where they may have been deleted. */
  isRevocable: boolean;
  /** Columns of the key that must belong to a row of the site: otherwise an archive could claim the votes of another site's poll. */
  parents: { column: SQLiteColumn; of: SQLiteTable & { id: SQLiteColumn; siteId: SQLiteColumn } }[];
}

type Options = Partial<Omit<ArchivedTable, "table" | "site">>;

const PLAIN = { secret: [], replace: null, blank: [], isRevocable: false, parents: [] };

function archived(table: SQLiteTable & { siteId: SQLiteColumn }, options: Options = {}): ArchivedTable {
  return { ...PLAIN, table, site: table.siteId, ...options };
}

/** In the order in which rows can be written: a referenced table first, and the site last, because it makes all others visible. */
export const ARCHIVED: ArchivedTable[] = [
  archived(accounts, { secret: [accounts.passwordHash], replace: noPassword, blank: [accounts.globalAccountId] }),
  archived(userProfiles),
  archived(totpSecrets, { secret: [totpSecrets.secretSealed], parents: [{ column: totpSecrets.accountId, of: accounts }] }),
  archived(recoveryCodes, {
    secret: [recoveryCodes.hash],
    isRevocable: true,
    parents: [{ column: recoveryCodes.accountId, of: accounts }],
  }),
  archived(accountLinks, { isRevocable: true }),
  archived(apiKeys, { secret: [apiKeys.hash, apiKeys.previousHash], isRevocable: true }),
  archived(playbackKeys, { secret: [playbackKeys.keySealed], isRevocable: true }),
  archived(pages),
  archived(panels),
  archived(navigations),
  archived(themes),
  archived(siteThemes),
  archived(channelTemplates),
  archived(media),
  archived(graphics),
  archived(overlays),
  archived(outputs, { secret: [outputs.hash], isRevocable: true }),
  archived(rundowns),
  archived(rundownTakes, { parents: [{ column: rundownTakes.rundownId, of: rundowns }] }),
  archived(polls),
  archived(pollResponses, { parents: [{ column: pollResponses.pollId, of: polls }] }),
  archived(questions),
  archived(questionUpvotes, { parents: [{ column: questionUpvotes.questionId, of: questions }] }),
  archived(quests, { secret: [quests.raffleSeed], replace: freshRaffle }),
  archived(questReports),
  archived(claims),
  archived(leaderboards),
  archived(scheduledActions),
  archived(streamProviders, {
    secret: [streamProviders.authorizationSealed, streamProviders.authorizationHash],
    replace: freshAuthorization,
  }),
  archived(streams, { secret: [streams.streamKeySealed], replace: noStreamKey }),
  archived(videos),
  archived(videoTotals, { parents: [{ column: videoTotals.videoId, of: videos }] }),
  archived(playlists),
  archived(calendarEvents),
  archived(calendarCategories, { parents: [{ column: calendarCategories.eventId, of: calendarEvents }] }),
  archived(dataProviders, { secret: [dataProviders.secretSealed, dataProviders.previousSecretSealed], replace: freshProviderSecret }),
  archived(automationRules),
  archived(rulePauses, { parents: [{ column: rulePauses.channelId, of: pages }] }),
  archived(statEntities),
  archived(statFacts),
  archived(statHistory),
  archived(keyPlays),
  archived(webhookEndpoints, {
    secret: [webhookEndpoints.secretSealed, webhookEndpoints.previousSecretSealed],
    replace: freshSigningSecret,
    isRevocable: true,
  }),
  archived(invites, { secret: [invites.tokenSealed, invites.tokenHash] }),
  archived(registerInvites),
  archived(subscriptions),
  archived(accessCodes),
  archived(bundles),
  archived(connectedAccounts),
  // Payments before what they buy: what is bought while an export runs may be in it without its payment, but no payment without what it
  // has bought, which would be refunded.
  archived(charges),
  archived(refunds),
  archived(recurringSubscriptions),
  archived(accountEntitlements),
  archived(wallets),
  archived(walletTransactions, { parents: [{ column: walletTransactions.walletId, of: wallets }] }),
  archived(donations),
  archived(shopConnections, { secret: [shopConnections.tokenSealed, shopConnections.webhookSecretSealed] }),
  archived(shopOrders),
  archived(mailSenders),
  archived(receiptTemplates),
  archived(chatSettings),
  archived(chatBans),
  archived(devices),
  archived(watchTime),
  archived(viewerActivity),
  archived(insightHours),
  archived(insightReach),
  { ...PLAIN, table: sites, site: sites.id },
];

/** Tables that no archive has, and why. */
export const LEFT_OUT: Record<string, string> = {
  global_accounts: "belongs to the deployment, not to a site",
  setup_links: "belongs to the deployment, not to a site",
  sessions: "everybody signs in again",
  sign_in_places: "hashes of addresses that are kept for 90 days",
  sign_in_failures: "waits to be published as an event",
  password_resets: "expires within the day",
  email_proofs: "expires within the day",
  intents: "expires within minutes",
  tv_codes: "expires within minutes",
  outbox: "waits to be moved to the event log, which is an object",
  idempotency_keys: "expires within a day",
  search_texts: "triggers write it when its rows are imported",
  search_letters: "is the same everywhere",
  sent_mails: "a record of this deployment's mail",
  member_exports: "expires within a day",
  site_archives: "expires within a day",
  stream_drafts: "an attempt that is undone within minutes",
  broadcasts: "what is on air is in the channel's object",
  rundown_operators: "who is there at the moment",
  rule_firings: "kept for a week, by events that aren't archived",
  provider_events: "kept for a week",
  chat_rooms: "counts the messages in the room's object",
  chat_queue: "refers to messages in the room's object",
  video_views: "kept for an hour",
  effect_failures: "a copy of what the event log, an object, says about itself",
  dead_letters: "messages of this deployment's queue",
  cron_runs: "belongs to the deployment, not to a site",
  backup_runs: "as for cron_runs",
  site_shards: "says where the site is in this deployment",
  site_slugs: "as for site_shards",
  site_moves: "says where the site is in this deployment",
  site_move_changes: "as for site_moves",
  site_move_pass: "as for site_moves",
  alerts: "as for cron_runs",
  request_counts: "as for cron_runs",
  sandboxes: "an archive is of a site that is kept",
  sandbox_mails: "as for sandboxes",
  insight_cursors: "positions in this deployment's objects",
};

export const nameOf = ({ table }: Pick<ArchivedTable, "table">): string => getTableName(table);

/** The columns of a table in their order, by their names in SQL. */
export function columnsOf({ table }: Pick<ArchivedTable, "table">): Map<string, SQLiteColumn> {
  return new Map(Object.values<SQLiteColumn>(getTableColumns(table)).map((column) => [column.name, column]));
}
