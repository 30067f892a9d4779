import { and, eq, isNull } from "drizzle-orm";
import { batchAll } from "#worker/services/core/context.ts";
import { createDb } from "./client.ts";
import { demoAccessCodes, demoEntitlements, demoInvites, demoRegisterInvites, demoSubscriptions } from "./demo/access.ts";
import { demoBundles, demoCharges, demoRecurring, demoRefunds, demoWallets, demoWalletTransactions } from "./demo/billing.ts";
import { demoDataProviders, demoProviderEvents, demoRules } from "./demo/automation.ts";
import { demoEvents } from "./demo/calendar.ts";
import { DEMO_RECEIPTS, DEMO_SENDER, SCOREBOARD } from "./demo/custom-email.ts";
import { CHANNEL_1, CHANNEL_2, CHANNEL_B, KICK_OFF, LANDING, SITE_A, SITE_B, stamps } from "./demo/match-day.ts";
import { demoGraphicFiles, demoGraphics } from "./demo/graphics.ts";
import { demoInsightHours, demoInsightReach } from "./demo/insights.ts";
import { demoMatchFacts } from "./demo/match-facts.ts";
import { demoLeaderboards } from "./demo/leaderboards.ts";
import { demoMedia } from "./demo/media.ts";
import { demoMemberEntitlements, demoMemberships, demoSupporters } from "./demo/members.ts";
import { demoNavigations } from "./demo/navigation.ts";
import { demoOutputs } from "./demo/outputs.ts";
import { demoOverlays } from "./demo/overlays.ts";
import { demoSegments } from "./demo/segments.ts";
import { demoPanels, MATCH_PREDICTOR, PANELS_A } from "./demo/panels.ts";
import { demoPolls } from "./demo/polls.ts";
import { demoQuestions, demoQuestionUpvotes } from "./demo/questions.ts";
import { demoClaims, demoQuests } from "./demo/quests.ts";
import { demoRundowns } from "./demo/rundowns.ts";
import { demoPlaybackKeys, demoStreamProviders, demoStreams } from "./demo/streams.ts";
import { demoChannelTemplates, demoDevices } from "./demo/templates.ts";
import { demoSiteThemes, demoThemes, THEME_A } from "./demo/themes.ts";
import { demoPlaylists, demoVideos, demoVideoTotals, INTERVIEW } from "./demo/videos.ts";
import { accountLinks, accounts, globalAccounts, userProfiles } from "./schema/accounts.ts";
import { automationRules, ruleFirings } from "./schema/automation-rules.ts";
import { calendarCategories, calendarEvents } from "./schema/calendar.ts";
import { channelTemplates } from "./schema/channel-templates.ts";
import { accessCodes } from "./schema/commerce/access-codes.ts";
import { charges, recurringSubscriptions, refunds } from "./schema/commerce/billing.ts";
import { bundles } from "./schema/commerce/bundles.ts";
import { accountEntitlements } from "./schema/commerce/entitlements.ts";
import { subscriptions } from "./schema/commerce/subscriptions.ts";
import { wallets, walletTransactions } from "./schema/commerce/wallets.ts";
import { mailSenders, receiptTemplates } from "./schema/custom-email.ts";
import { dataProviders, providerEvents } from "./schema/data-providers.ts";
import { devices } from "./schema/devices.ts";
import { graphics } from "./schema/graphics.ts";
import { insightHours, insightReach } from "./schema/insights.ts";
import { invites, registerInvites } from "./schema/invites.ts";
import { leaderboards } from "./schema/engagement/leaderboards.ts";
import { media } from "./schema/media.ts";
import { navigations } from "./schema/navigation.ts";
import { outputs } from "./schema/streams/outputs.ts";
import { overlays } from "./schema/overlays.ts";
import { pages } from "./schema/pages.ts";
import { panels } from "./schema/panels.ts";
import { playbackKeys } from "./schema/streams/playback-keys.ts";
import { playlists } from "./schema/playlists.ts";
import { polls } from "./schema/engagement/polls.ts";
import { questions, questionUpvotes } from "./schema/engagement/questions.ts";
import { claims, quests } from "./schema/engagement/quests.ts";
import { rundowns } from "./schema/rundowns.ts";
import { apiKeys, sites } from "./schema/sites.ts";
import { streamProviders, streams } from "./schema/streams/streams.ts";
import { siteThemes, themes } from "./schema/themes.ts";
import { videos, videoTotals } from "./schema/videos.ts";
import { webhookEndpoints } from "./schema/webhooks.ts";
import { demoWebhooks } from "./demo/webhooks.ts";
import type { AccountRole, PageData } from "./types.ts";
import { hashPassword, sha256 } from "#worker/lib/crypto/crypto.ts";

// The demo sites, only for the local database.

export { CHANNEL_1, CHANNEL_2, SITE_A, SITE_B };

const GLOBAL = "5eed00000000000000009001";

const ADMIN: AccountRole = { scope: "*", pageId: [], write: true };

/**
 * Loads the missing parts of the demo sites. Safe to repeat; changed rows are kept as they are.
 * Files require the bucket, and sealed data (magic links, streams and their providers) the secret.
 */
export async function loadDemo(d1: D1Database, bucket?: R2Bucket, secrets?: { TIFO_SECRET: string }): Promise<void> {
  const db = createDb(d1);
  await db.batch([
    db
      .insert(sites)
      .values([demoSite(SITE_A, "demo", "Harbour City FC"), demoSite(SITE_B, "rival", "Old Dock United")])
      .onConflictDoNothing(),
    db
      .insert(apiKeys)
      .values(await demoKey("5eed0000000000000000e001", SITE_A, "tifo_dev_demo"))
      .onConflictDoNothing(),
    db
      .insert(apiKeys)
      .values(await demoKey("5eed0000000000000000e101", SITE_B, "tifo_dev_rival"))
      .onConflictDoNothing(),
    db
      .insert(apiKeys)
      .values({ ...SCOREBOARD, hash: await sha256("tifo_dev_demo_scoreboard") })
      .onConflictDoNothing(),
    db
      .insert(outputs)
      .values(await demoOutputs())
      .onConflictDoNothing(),
    db.insert(mailSenders).values(DEMO_SENDER).onConflictDoNothing(),
    db.insert(receiptTemplates).values(DEMO_RECEIPTS).onConflictDoNothing(),
  ]);
  const people = await demoPeople();
  for (const person of people) {
    const profile = {
      ...stamps,
      id: person.id.replace(/^5eed0000000000000000a/, "5eed0000000000000000b"),
      siteId: person.siteId,
      accountId: person.id,
      name: person.name,
    };
    const links = person.thirdPartyAuthProviders.map(({ provider, accountId: thirdPartyAccountId }) => ({
      siteId: person.siteId,
      provider,
      thirdPartyAccountId,
      accountId: person.id,
    }));
    if (links.length > 0) await db.insert(accountLinks).values(links).onConflictDoNothing();
    await db.batch([
      db.insert(accounts).values(person).onConflictDoNothing(),
      db.insert(userProfiles).values(profile).onConflictDoNothing(),
      // Demo data from before addresses were verified: marks its people as verified, like new ones.
      db
        .update(accounts)
        .set({ emailVerified: person.emailVerified, trusted: true, globalAccountId: person.globalAccountId })
        .where(and(eq(accounts.id, person.id), eq(accounts.email, person.email), isNull(accounts.emailVerified))),
    ]);
  }
  for (const { account, profile } of await demoSupporters()) {
    await db.batch([
      db.insert(accounts).values(account).onConflictDoNothing(),
      db.insert(userProfiles).values(profile).onConflictDoNothing(),
    ]);
  }
  await db
    .insert(globalAccounts)
    .values({ ...stamps, id: GLOBAL, email: "global@demo.example", passwordHash: await hashPassword("demo-global-pass") })
    .onConflictDoNothing();
  for (const page of demoPages()) await db.insert(pages).values(page).onConflictDoNothing();
  for (const leaderboard of demoLeaderboards()) await db.insert(leaderboards).values(leaderboard).onConflictDoNothing();
  for (const panel of demoPanels()) await db.insert(panels).values(panel).onConflictDoNothing();
  for (const template of demoChannelTemplates()) await db.insert(channelTemplates).values(template).onConflictDoNothing();
  await db.insert(devices).values(demoDevices()).onConflictDoNothing();
  for (const navigation of demoNavigations()) await db.insert(navigations).values(navigation).onConflictDoNothing();
  for (const theme of demoThemes()) await db.insert(themes).values(theme).onConflictDoNothing();
  for (const applied of demoSiteThemes()) await db.insert(siteThemes).values(applied).onConflictDoNothing();
  await db.batch([
    db
      .insert(subscriptions)
      .values([...demoSubscriptions(), ...demoMemberships()])
      .onConflictDoNothing(),
    db.insert(accessCodes).values(demoAccessCodes()).onConflictDoNothing(),
    db.insert(registerInvites).values(demoRegisterInvites()).onConflictDoNothing(),
  ]);
  // Row by row, because an insert can bind at most 100 values.
  for (const row of [...demoEntitlements(), ...demoMemberEntitlements()])
    await db.insert(accountEntitlements).values(row).onConflictDoNothing();
  for (const bundle of demoBundles()) await db.insert(bundles).values(bundle).onConflictDoNothing();
  for (const charge of demoCharges()) await db.insert(charges).values(charge).onConflictDoNothing();
  for (const refund of demoRefunds()) await db.insert(refunds).values(refund).onConflictDoNothing();
  for (const recurring of demoRecurring()) await db.insert(recurringSubscriptions).values(recurring).onConflictDoNothing();
  for (const wallet of demoWallets()) await db.insert(wallets).values(wallet).onConflictDoNothing();
  for (const row of demoWalletTransactions()) await db.insert(walletTransactions).values(row).onConflictDoNothing();
  for (const provider of secrets ? await demoStreamProviders(secrets) : [])
    await db.insert(streamProviders).values(provider).onConflictDoNothing();
  for (const key of secrets ? await demoPlaybackKeys(secrets) : []) await db.insert(playbackKeys).values(key).onConflictDoNothing();
  for (const stream of secrets ? await demoStreams(secrets) : []) await db.insert(streams).values(stream).onConflictDoNothing();
  for (const provider of secrets ? await demoDataProviders(secrets) : [])
    await db.insert(dataProviders).values(provider).onConflictDoNothing();
  for (const rule of demoRules()) await db.insert(automationRules).values(rule).onConflictDoNothing();
  await db.batch([
    db.insert(providerEvents).values(demoProviderEvents().events).onConflictDoNothing(),
    db.insert(ruleFirings).values(demoProviderEvents().firings).onConflictDoNothing(),
  ]);
  await batchAll(db, demoMatchFacts(db));
  for (const invite of secrets ? await demoInvites(secrets) : []) await db.insert(invites).values(invite).onConflictDoNothing();
  for (const webhook of secrets ? await demoWebhooks(secrets) : []) await db.insert(webhookEndpoints).values(webhook).onConflictDoNothing();
  for (const video of demoVideos()) await db.insert(videos).values(video).onConflictDoNothing();
  await db.batch([
    db.insert(videoTotals).values(demoVideoTotals()).onConflictDoNothing(),
    db.insert(playlists).values(demoPlaylists()).onConflictDoNothing(),
  ]);
  for (const hours of chunksOf(demoInsightHours(), 16)) await db.insert(insightHours).values(hours).onConflictDoNothing();
  await db.insert(insightReach).values(demoInsightReach()).onConflictDoNothing();
  for (const poll of demoPolls()) await db.insert(polls).values(poll).onConflictDoNothing();
  for (const question of demoQuestions()) await db.insert(questions).values(question).onConflictDoNothing();
  await db.insert(questionUpvotes).values(demoQuestionUpvotes()).onConflictDoNothing();
  for (const quest of secrets ? await demoQuests(secrets) : []) await db.insert(quests).values(quest).onConflictDoNothing();
  await db.insert(claims).values(demoClaims()).onConflictDoNothing();
  for (const rundown of demoRundowns()) await db.insert(rundowns).values(rundown).onConflictDoNothing();
  for (const { key, content, contentType } of demoGraphicFiles()) await bucket?.put(key, content, { httpMetadata: { contentType } });
  await db.insert(graphics).values(demoGraphics()).onConflictDoNothing();
  for (const overlay of demoOverlays()) await db.insert(overlays).values(overlay).onConflictDoNothing();
  for (const { row, content } of demoMedia()) {
    await bucket?.put(row.id, content, { httpMetadata: { contentType: row.contentType } });
    await db.insert(media).values(row).onConflictDoNothing();
  }
  for (const event of demoEvents()) {
    const [inserted] = await db.insert(calendarEvents).values(event).onConflictDoNothing().returning({ id: calendarEvents.id });
    const links = event.categories.map((category) => ({ ...category, eventId: event.id, siteId: event.siteId }));
    if (inserted) await db.insert(calendarCategories).values(links);
  }
}

/** In parts, because an insert can bind at most 100 values. */
function chunksOf<T>(rows: T[], size: number): T[][] {
  return Array.from({ length: Math.ceil(rows.length / size) }, (_, index) => rows.slice(index * size, (index + 1) * size));
}

function demoSite(id: string, slug: string, name: string): typeof sites.$inferInsert {
  return {
    ...stamps,
    id,
    slug,
    name,
    collections: ["match-day"],
    regions: { header: { title: name }, footer: { text: `© ${name}` } },
    settings: {
      security: {
        allowedOrigins: ["http://localhost:8787", "https://demo.example"],
        allowNewAdmins: true,
        requireVerifiedEmail: false,
        providers: [{ name: "club-app", jwksUrl: `https://keys.${slug}.example/jwks.json`, audience: `https://${slug}.example` }],
      },
      localization: { language: "en", languages: ["en", "es", "fr", "de", "pt", "it", "ar"], timeZone: "Europe/London" },
      transitions: { enter: { name: "slide", duration: 250 }, exit: { name: "fade", duration: 160 } },
      userSegments: demoSegments(),
      manifest: { hosts: ["live.demo.example", "localhost:8790"], cues: [] },
      seo: { title: name, description: "Every match, live" },
    },
    style: { accent: slug === "demo" ? "#6E5FFB" : "#C2410C" },
    features: { overlays: true, polls: true, quests: true },
    shards: [],
    tags: ["football"],
    deviceLimit: 3,
  };
}

async function demoKey(id: string, siteId: string, key: string): Promise<typeof apiKeys.$inferInsert> {
  return { ...stamps, id, siteId, hash: await sha256(key), name: "Demo key", clientName: "Match-day desk", roles: ["*"] };
}

async function demoPeople(): Promise<(typeof accounts.$inferInsert & { id: string; siteId: string; name: string })[]> {
  const creator: AccountRole = { scope: "*", pageId: [CHANNEL_1], write: true };
  return Promise.all([
    person("001", SITE_A, "admin@demo.example", "Ada Admin", "demo-admin-pass", [ADMIN]),
    person("002", SITE_A, "creator@demo.example", "Cleo Creator", "demo-creator-pass", [creator]),
    person("003", SITE_A, "viewer@demo.example", "Vera Viewer", "demo-viewer-pass", [], ["team:home", "tier:gold"]),
    person("005", SITE_A, "moderator@demo.example", "Mo Moderator", "demo-moderator-pass", []).then(moderator),
    person("004", SITE_A, "global@demo.example", "Gil Global", "demo-global-pass", [ADMIN], [], GLOBAL),
    person("101", SITE_B, "admin@rival.example", "Rex Rival", "rival-admin-pass", [ADMIN]),
    person("104", SITE_B, "global@demo.example", "Gil Global", "demo-global-pass", [ADMIN], [], GLOBAL),
  ]);
}

/** Moderates the first channel's chat, and can also sign in through the club's app. */
function moderator(account: Awaited<ReturnType<typeof person>>) {
  const roles: AccountRole[] = [{ scope: "Chat_Moderator", pageId: [CHANNEL_1], write: true }];
  return { ...account, roles, thirdPartyAuthProviders: [{ provider: "club-app", accountId: "staff-0042" }] };
}

async function person(
  number: string,
  siteId: string,
  email: string,
  name: string,
  password: string,
  roles: AccountRole[],
  tags: string[] = [],
  globalAccountId: string | null = null,
) {
  return {
    ...stamps,
    id: `5eed0000000000000000a${number}`,
    siteId,
    globalAccountId,
    email,
    name,
    normalizedName: name.toLowerCase(),
    passwordHash: await hashPassword(password),
    emailHash: await sha256(email),
    roles,
    tags,
    thirdPartyAuthProviders: [],
    emailVerified: stamps.created,
    trusted: true,
    marketingOptin: false,
  };
}

function demoPages(): (typeof pages.$inferInsert)[] {
  const schedule = { startTimestamp: KICK_OFF, endTimestamp: KICK_OFF + 7_200_000 };
  return [
    page(CHANNEL_1, SITE_A, "channel", "main-stage", {
      name: "Main stage",
      schedule,
      welcome_screen: { duration: 5, text: "Harbour City v Old Dock" },
      countdown: { show: true },
      default_mode: "live",
      theme: THEME_A,
      sidebar: { panels: PANELS_A },
      external_field_1: "match-2026-11-21",
    }),
    page(CHANNEL_2, SITE_A, "channel", "backstage", {
      name: "Backstage",
      content: { offline: { video_id: INTERVIEW } },
      sidebar: { panels: [MATCH_PREDICTOR] },
      external_field_1: "match-2026-11-21",
    }),
    page(LANDING, SITE_A, "landing", "home", { name: "Match day" }),
    page(CHANNEL_B, SITE_B, "channel", "dock-side", { name: "Dock side", schedule }),
  ];
}

function page(
  id: string,
  siteId: string,
  type: "channel" | "landing",
  slug: string,
  data: Omit<PageData, "gate"> & { name: string },
): typeof pages.$inferInsert {
  return {
    ...stamps,
    id,
    siteId,
    type,
    slug,
    seo: { title: data.name, description: `${data.name}, live` },
    style: {},
    activeRenderers: ["player", "sidebar"],
    renderers: {},
    data: { gate: { type: "none", skus: [] }, ...data },
    tags: ["football"],
  };
}
