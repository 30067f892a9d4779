import { SAMPLE_IDS, SAMPLE_MOMENT } from "./event-sample-ids.ts";

// What the samples of the event catalogue say: one match day at one site, so that ids, times and money of all samples agree.

// SHA-256 of the sample viewer's e-mail address, and of the raffle's seed.
const EMAIL_HASH = "27ee3d0b549d3fa5e90acf647a0fbcfe646e863b2309919f2e331c77a75d72a6";
const SEED = "9f86d081884c7d659a2feaa0c55ad015a3bf4f1b2b0b822cd15d6c15b0f00a08";
const COMMITMENT = "7b3d979ca8330a94fa7e9e1b466d8b99e0bcdea1ec90596c0dcc8d7ef6b4300c";

const MINUTE = 60_000;
const DAY = 86_400_000;
const MONTH = 30 * DAY;

type Values = Record<string, unknown>;

/** Fields that mean the same in every event. */
export const COMMON_VALUES: Values = {
  siteId: SAMPLE_IDS.site,
  site_id: SAMPLE_IDS.site,
  accountId: SAMPLE_IDS.viewer,
  channelId: SAMPLE_IDS.page,
  streamId: SAMPLE_IDS.stream,
  chargeId: SAMPLE_IDS.charge,
  questId: SAMPLE_IDS.quest,
  entitlementId: SAMPLE_IDS.entitlement,
  providerId: SAMPLE_IDS.dataprovider,
  exportId: SAMPLE_IDS.export,
  created: SAMPLE_MOMENT - MONTH,
  modified: SAMPLE_MOMENT,
  tags: [],
};

const pass = { sku: "season-pass", skus: ["season-pass"] };
const member = { _id: SAMPLE_IDS.viewer, uid: SAMPLE_IDS.viewer, email: "viewer@demo.example", name: "Vera Viewer" };
const goal = "<p>Goal! {{scorer}} makes it {{home}}:{{away}}.</p>";
const trigger = { dataProviderId: SAMPLE_IDS.dataprovider, fact: "match.goal", operator: "equals", value: "home", behavior: "immediate" };
const targeting = { scope: "channel", segment: "viewers_all", priority: 10 };
const action = {
  type: "SEND_OVERLAY",
  targeting,
  templateId: SAMPLE_IDS.overlay,
  variableMapping: { scorer: { type: "dynamic", value: "match.scorer" } },
};
const streamHost = "https://streams.demo.example";
const answers = [
  { _id: SAMPLE_IDS.answer, pollId: SAMPLE_IDS.poll, answer: "Harbour City", imageUrl: null },
  { _id: SAMPLE_IDS.otherAnswer, pollId: SAMPLE_IDS.poll, answer: "Old Dock", imageUrl: null },
];

/** What events of these types say; of several entries that match, a later one adds to those before it and replaces their fields. */
const VALUES: [types: RegExp, values: Values][] = [
  [/^accesscode\./, { _id: SAMPLE_IDS.accesscode, sku: "season-pass", type: "subscription", tags: ["press"], consumedAt: null }],
  [/^accesscode\.(created|deleted)$/, { accountId: null }],
  [/^accesscode\.bulkCreated$/, { batchId: SAMPLE_IDS.batch, qty: 500 }],
  [/^accesscode\.consumed$/, { consumedAt: SAMPLE_MOMENT }],

  [
    /^(account\.|new_account)/,
    { ...member, normalizedName: "vera viewer", hash: EMAIL_HASH, globalAccountID: null, lastLogin: SAMPLE_MOMENT - DAY },
  ],
  [/^(account\.|new_account)/, { marketingOptin: false, roles: [], subscriptions: ["season-pass"], tags: ["team:home"] }],
  [/^new_account$/, { created: SAMPLE_MOMENT, lastLogin: null, subscriptions: [], tags: [] }],
  [/^new_account$/, { emailVerified: false }],
  [/^account\.globalAccountLinked$/, { globalAccountID: SAMPLE_IDS.globalAccount }],
  [/^account\.(emailVerification|globalAccount)Requested$/, { _id: SAMPLE_IDS["email-proof"] }],
  [/^account\.rolesUpdated$/, { roles: [{ scope: "*", pageId: [SAMPLE_IDS.page], write: true }] }],
  [/^account\.tagsAdded$/, { accounts: [{ _id: SAMPLE_IDS.viewer, tags: ["team:home", "tier:gold"] }] }],
  [/^account\.passwordResetRequested$/, { _id: SAMPLE_IDS["password-reset"] }],
  [/^account\.sessionEnded$/, { sessionId: SAMPLE_IDS.session, reason: "signedOut" }],
  [
    /^account\.signInFailed$/,
    { address: "203.0.113.9", reason: "password", attempts: 3, minute: SAMPLE_MOMENT - (SAMPLE_MOMENT % MINUTE) - MINUTE },
  ],

  [/^admin\.(channel|landing)/, { _id: SAMPLE_IDS.page, type: "channel", slug: "main-stage", tags: ["football"] }],
  [/^admin\.channel/, { data: { name: "Main stage", gate: { type: "entitlement", skus: ["season-pass"] }, external_field_1: "match-7" } }],
  [
    /^admin\.landing/,
    { _id: SAMPLE_IDS.landing, type: "landing", slug: "season", data: { name: "The season", gate: { type: "none", skus: [] } } },
  ],
  [/^admin\.template/, { _id: SAMPLE_IDS.template, title: "Match day", description: "Chat, polls and the line-ups", icon: "whistle" }],
  [/^admin\.template/, { theme: SAMPLE_IDS.theme, creator: SAMPLE_IDS.admin, owner: SAMPLE_IDS.admin, archived: false }],
  [/^admin\.templateArchived$/, { archived: true }],

  [
    /^(video|admin\.vod)/,
    { _id: SAMPLE_IDS.video, title: "Harbour City v Old Dock: highlights", description: "All four goals.", type: "vod" },
  ],
  [
    /^(video|admin\.vod)/,
    { durationSeconds: 312, player: "file", url: "https://vod.demo.example/highlights.m3u8", uploadStatus: "complete" },
  ],
  [/^(video|admin\.vod)/, { thumbnail: "https://demo.example/highlights.jpg", gated: false, liveBroadcastId: null, tags: ["derby"] }],
  [/^admin\.vodReady$/, { created: SAMPLE_MOMENT }],
  [/^(stream\.(created|deleted|updated)|admin\.went)/, { _id: SAMPLE_IDS.stream, title: "Harbour City v Old Dock", provider: "wowza" }],
  [/^(stream\.(created|deleted|updated)|admin\.went)/, { providerStreamId: "wowza-derby", ingestUrl: "rtmps://ingest.demo.example/live" }],
  [
    /^(stream\.(created|deleted|updated)|admin\.went)/,
    { playbackUrl: "https://play.demo.example/derby/master.m3u8", isLive: false, liveSince: null },
  ],
  [/^(stream\.(created|deleted|updated)|admin\.went)/, { fallbackImageUrl: "https://demo.example/kick-off-soon.png", tags: ["derby"] }],
  [/^admin\.wentLive$/, { isLive: true, liveSince: SAMPLE_MOMENT }],
  [/^admin\.wentOffline$/, { vod: { streamId: SAMPLE_IDS.stream, durationSeconds: 6_312 } }],
  [/^stream\.updated$/, { channelId: null }],
  [/^stream\.provider/, { _id: SAMPLE_IDS.streamprovider, name: "wowza", canGenerateCaptions: true, canSupport4K: true }],
  [/^stream\.provider/, { createStream: `${streamHost}/create`, deleteStream: `${streamHost}/delete` }],
  [/^stream\.provider/, { startStream: `${streamHost}/start`, stopStream: `${streamHost}/stop` }],

  [/^auth\.intent/, { _id: SAMPLE_IDS.intent, kind: "partner" }],
  [
    /^billing\.c/,
    { _id: SAMPLE_IDS.charge, status: "complete", amount: 1900, refunded: 0, refundPending: 0, description: "Season pass", ...pass },
  ],
  [/^billing\.c/, { currency: "gbp", itemType: "subscription", itemId: SAMPLE_IDS.subscription, created: SAMPLE_MOMENT - MINUTE }],
  [/^billing\.c/, { receiptNumber: null, recurringId: null, failure: null }],
  [/^billing\.chargeCompleted$/, { receiptNumber: "R-2026-7Q4ZK9TD" }],
  [/^billing\.chargeDeclined$/, { status: "declined", failure: "Your card was declined." }],
  [/^billing\.checkoutStarted$/, { status: "pending", created: SAMPLE_MOMENT }],
  [
    /^billing\.recurring/,
    { _id: SAMPLE_IDS.recurring, itemId: SAMPLE_IDS.subscription, name: "Season pass", ...pass, status: "active", pastDue: false },
  ],
  [
    /^billing\.recurring/,
    { amount: 1900, currency: "gbp", recurrence: "month", currentPeriodEnd: SAMPLE_MOMENT + MONTH, dateCancelled: null },
  ],
  [/^billing\.refund/, { _id: SAMPLE_IDS.refund, amount: 1900, reason: "requested_by_customer", status: "pending", failure: null }],
  [/^billing\.refund/, { created: SAMPLE_MOMENT - DAY }],
  [/^billing\.refundRequested$/, { created: SAMPLE_MOMENT }],
  [/^billing\.refunded$/, { status: "complete" }],
  [/^billing\.refundDeclined$/, { status: "declined", failure: "The card has expired." }],
  [
    /^billing\.account/,
    { _id: SAMPLE_IDS.stripeaccount, stripeAccount: "acct_1HarbourCity", connected: true, chargesEnabled: true, payoutsEnabled: true },
  ],
  [/^billing\.account/, { detailsSubmitted: true, requirements: { currentlyDue: [], pastDue: [], disabledReason: null } }],
  [/^billing\.accountDisconnected$/, { connected: false, chargesEnabled: false, payoutsEnabled: false }],
  [
    /^billing\.accountCreated$/,
    {
      ...{ connected: false, chargesEnabled: false, payoutsEnabled: false, detailsSubmitted: false },
      requirements: { currentlyDue: ["business_profile.url"], pastDue: [], disabledReason: "requirements.past_due" },
    },
  ],
  [/^bundle\./, { id: SAMPLE_IDS.bundle, name: "Derby night", sku: "derby-night", price: 2500, presentmentCurrency: "gbp" }],
  [
    /^bundle\./,
    {
      items: [{ type: "ticket", id: "season-pass" }],
      description: "The match and the replay",
      image: "https://demo.example/derby-night.jpg",
    },
  ],

  [/^community\.export/, { accountId: SAMPLE_IDS.admin, fileName: "members-2026-11-21.csv", status: "pending", rows: 0 }],
  [/^community\.exportRequested$/, { created: SAMPLE_MOMENT }],
  [/^community\.export(Completed|Failed)$/, { created: SAMPLE_MOMENT - MINUTE }],
  [/^community\.exportCompleted$/, { status: "complete", rows: 1893 }],
  [/^community\.exportFailed$/, { status: "failed" }],
  [
    /^community\.refundGranted$/,
    { action: "cancel", amount: 1900, reason: "requested_by_customer", refundDetails: "The stream broke off" },
  ],
  [/^customemail\.receipt/, { subject: "Your receipt {{receiptNumber}}", template: "<p>Thank you, {{name}}.</p>" }],
  [
    /^customemail\.sender/,
    { domain: "demo.example", fromEmail: "tickets@demo.example", fromName: "Harbour City FC", replyToEmail: "help@demo.example" },
  ],
  [/^device\./, { deviceId: "living-room-tv" }],

  [
    /^entitlement_/,
    { _id: SAMPLE_IDS.entitlement, entitlement: "season-pass", grantedMethod: "purchased", price: 1900, presentmentCurrency: "gbp" },
  ],
  [/^entitlement_/, { refunded: 0, status: "active", dateGranted: SAMPLE_MOMENT - MONTH, dateCancelled: null, dateRefunded: null }],
  [/^entitlement_/, { dateEnds: SAMPLE_MOMENT }],
  [
    /^entitlement_granted$/,
    { grantedMethod: "customerService", price: 0, presentmentCurrency: null, dateEnds: null, dateGranted: SAMPLE_MOMENT },
  ],
  [/^entitlement_purchased$/, { dateGranted: SAMPLE_MOMENT, dateEnds: SAMPLE_MOMENT + MONTH }],
  [/^entitlement_renewed$/, { dateEnds: SAMPLE_MOMENT + MONTH }],
  [/^entitlement_cancelScheduled$/, { status: "cancelScheduled", dateCancelled: SAMPLE_MOMENT, dateEnds: SAMPLE_MOMENT + 9 * DAY }],
  [/^entitlement_(cancelled|expired|revoked|refunded)$/, { status: "cancelled", dateCancelled: SAMPLE_MOMENT }],
  [
    /^entitlement_refunded$/,
    { refunded: 1900, dateRefunded: SAMPLE_MOMENT, dateCancelled: SAMPLE_MOMENT - DAY, dateEnds: SAMPLE_MOMENT - DAY },
  ],

  [/^event\./, { _id: SAMPLE_IDS.calendar, titleRaw: "Harbour City v Old Dock", descriptionRaw: "Round 12 of the league." }],
  [/^event\./, { categories: [{ title: "Competition", label: "League" }], thirdPartyEventId: "league-2026-12-7" }],
  [
    /^event\./,
    {
      date: {
        startTimestamp: SAMPLE_MOMENT + DAY,
        endTimestamp: SAMPLE_MOMENT + DAY + 120 * MINUTE,
        timeZone: "Europe/London",
        useEndTime: true,
      },
    },
  ],
  [/^event\./, { image: { show: true, src: "https://demo.example/derby.jpg" } }],

  [
    /^invite\./,
    { _id: SAMPLE_IDS.invite, redirectUri: "https://demo.example/welcome", targetSkus: ["season-pass"], consumed: false, revoked: false },
  ],
  [/^invite\./, { accountId: null, expiresAt: SAMPLE_MOMENT + MONTH, created: SAMPLE_MOMENT - DAY }],
  [/^invite\.(consumed|redeemed)$/, { consumed: true }],
  [/^invite\.redeemed$/, { accountId: SAMPLE_IDS.viewer }],
  [/^invite\.revoked$/, { revoked: true }],
  [
    /^invite\.register/,
    { senderAccountId: SAMPLE_IDS.admin, sent: true, targetRoles: [{ scope: "*", pageId: [SAMPLE_IDS.page], write: true }] },
  ],
  [/^invite\.registerCreated$/, { sent: false }],
  [/^invite\.registerAccepted$/, { accountId: SAMPLE_IDS.viewer }],
  [/^invite\.registerRevoked$/, { revoked: true }],

  [
    /^media\./,
    {
      _id: SAMPLE_IDS.media,
      fileName: "crest.png",
      kind: "image",
      contentType: "image/png",
      size: 18_432,
      url: `/media/v1/${SAMPLE_IDS.media}`,
    },
  ],
  [
    /^navigation\./,
    { _id: SAMPLE_IDS.navigation, name: "Match day", parents: [{ type: "channel", pageId: SAMPLE_IDS.page, private: false }] },
  ],
  [/^navigation\./, { externalLinks: [{ name: "Tickets", url: "https://demo.example/tickets" }] }],
  [/^dataprovider\.event$/, { id: SAMPLE_IDS.providerEvent, at: SAMPLE_MOMENT - 1_200, externalId: "goal-1" }],
  [/^dataprovider\.event$/, { data: { match: { minute: 17, goal: "home", scorer: "Ada Moreno", score: { home: 1, away: 0 } } } }],
  [
    /^dataprovider\.provider/,
    { _id: SAMPLE_IDS.dataprovider, name: "Harbour Stats", description: "Goals, cards and the clock", realtime: true, ttl: 60 },
  ],
  [/^dataprovider\.provider/, { facts: ["match.goal", "match.scorer"], factTypes: { "match.goal": "string", "match.scorer": "string" } }],

  [/^dataprovider\.providerDisabled$/, { disabledReason: "schema.$ref: Has more than 10000 subschemas once references are expanded" }],

  [/^overlay\./, { _id: SAMPLE_IDS.overlay, name: "Goal", description: "Who scored", type: "template", duration: 8, cta: null }],
  [/^overlay\./, { contents: [{ kind: "html", html: goal, position: "bottomCenter" }], channelIds: [SAMPLE_IDS.page] }],
  [/^overlay\.cleared$/, { clearId: SAMPLE_IDS.clear, target: { overlayId: SAMPLE_IDS.overlay } }],
  [
    /^overlay\.broadcast$/,
    {
      broadcast: {
        broadcastId: SAMPLE_IDS.broadcast,
        overlayId: SAMPLE_IDS.overlay,
        startsAt: SAMPLE_MOMENT,
        endsAt: SAMPLE_MOMENT + 8_000,
        position: "bottomCenter",
        contents: [{ kind: "html", html: "<p>Goal! Ada Moreno makes it 1:0.</p>", position: "bottomCenter" }],
        cta: null,
        variables: { scorer: "Ada Moreno", home: 1, away: 0 },
        priority: 10,
      },
    },
  ],
  [/^panel\./, { _id: SAMPLE_IDS.panel, slug: "match-chat-00d001", last_modified: SAMPLE_MOMENT }],
  [
    /^panel\./,
    {
      renderer: {
        ...{ panel_type: "chat", panel_name: "Match chat", disable_on_mobile_embedded: false },
        ...{ allow_non_admin_links: false, filtered_words: "offside ref" },
      },
    },
  ],
  [/^personalization\./, { _id: SAMPLE_IDS.rule, name: "Goal overlay", active: true, clientRule: false, jsonRule: { trigger, action } }],
  [
    /^playlist\./,
    { _id: SAMPLE_IDS.playlist, title: "Derby day", description: "Every goal", members: [{ id: SAMPLE_IDS.video, schema: "video" }] },
  ],
  [
    /^poll\./,
    { _id: SAMPLE_IDS.poll, pollId: SAMPLE_IDS.poll, type: "prediction", question: "Who wins the derby?", name: "Derby result", answers },
  ],
  [/^poll\./, { open: true, responsesPerViewer: 1, hideResults: false, correctAnswerId: null, settled: null }],
  [/^poll\.(closed|settled|deleted)$/, { open: false }],
  [/^poll\.settled$/, { correctAnswerId: SAMPLE_IDS.answer, settled: SAMPLE_MOMENT }],

  [/^(claim\.updated|quest\.claimed)$/, { _id: SAMPLE_IDS.claimstatus, productId: "derby-scarf", rewardType: "webhook", message: null }],
  [/^claim\.updated$/, { status: "SUCCESS", created: SAMPLE_MOMENT - MINUTE }],
  [/^quest\./, { webhookId: "rewards", webhookType: "scarf", webhookValue: "derby" }],
  [/^quest\.claimed$/, { status: "PENDING", created: SAMPLE_MOMENT }],
  [
    /^quest\.(created|updated|deleted)$/,
    { _id: SAMPLE_IDS.quest, title: "Be there for the derby", description: "Watch, predict, win.", productId: "derby-scarf" },
  ],
  [
    /^quest\.(created|updated|deleted)$/,
    { rewardType: "webhook", rewardDescription: "A scarf of the derby", rewardImage: "https://demo.example/scarf.jpg" },
  ],
  [/^quest\.(created|updated|deleted)$/, { claimedMessage: "It is on its way.", channelIds: [SAMPLE_IDS.page], raffle: null }],
  [/^quest\.(created|updated|deleted)$/, { timeMinimum: SAMPLE_MOMENT / 1000, timeMaximum: (SAMPLE_MOMENT + 120 * MINUTE) / 1000 }],
  [/^raffle\.drawn$/, { seed: SEED, commitment: COMMITMENT, entrants: 128 }],
  [/^raffle\.drawn$/, { winners: [{ claimId: SAMPLE_IDS.claimstatus, accountId: SAMPLE_IDS.viewer }] }],

  [
    /^site\.(created|updated|featuresReplaced)$/,
    { _id: SAMPLE_IDS.site, name: "Harbour City FC", slug: "harbour-city", devicelimit: 3, tags: ["football"] },
  ],
  [/^site\.(created|updated|featuresReplaced)$/, { contractServiceChargeRate: 500, features: { overlays: true, polls: true } }],
  [
    /^site\.apiKey/,
    { _id: SAMPLE_IDS.apikey, name: "Scoreboard", clientName: "Match-day desk", roles: ["overlay:write"], expirationTime: null },
  ],
  [/^site\.apiKey/, { previousKeyExpires: null }],
  [/^site\.apiKeyRotated$/, { previousKeyExpires: SAMPLE_MOMENT + DAY }],
  [/^site\.playbackKey/, { _id: SAMPLE_IDS.playbackkey, provider: "mux", keyId: "harbour-city-2026", lifetimeSeconds: 3600 }],
  [
    /^subscription\./,
    { _id: SAMPLE_IDS.subscription, name: "Season pass", sku: "season-pass", subscriptionProvider: "stripe", recurrence: "month" },
  ],
  [/^subscription\./, { prices: [{ currency: "gbp", default: true, value: 1900 }], stripePlanId: null, previewDurationSeconds: 300 }],

  [/^theme\./, { _id: SAMPLE_IDS.theme, ...theme() }],
  [
    /^theme\.applied$/,
    {
      theme: {
        _id: SAMPLE_IDS.theme,
        siteId: null,
        created: SAMPLE_MOMENT - MONTH,
        modified: SAMPLE_MOMENT - DAY,
        ...theme(),
        type: "admin",
      },
    },
  ],
  [/^wallet\./, { _id: SAMPLE_IDS.wallet, ownerId: SAMPLE_IDS.viewer, ownerType: "account", balance: 0, paymentCustomerId: null }],
  [/^wallet\.updated$/, { paymentCustomerId: "cus_HarbourCity01" }],
  [
    /^webhook\./,
    { _id: SAMPLE_IDS.webhook, webhookUrl: "https://demo.example/webhooks/tifo", services: ["overlay-service-v1"], enabled: true },
  ],
  [/^webhook\./, { disabled: null, previousSecretExpires: null, sentAt: SAMPLE_MOMENT }],
  [/^webhook\.disabled$/, { enabled: false, disabled: { reason: "failing", at: SAMPLE_MOMENT } }],
  [/^webhook\.secretRotated$/, { previousSecretExpires: SAMPLE_MOMENT + DAY }],
  // A new thing was made and changed at the moment of its event.
  [/([cC]reated|Registered|Added|Started|new_account)$/, { created: SAMPLE_MOMENT }],
];

function theme(): Values {
  return {
    ...{ name: "Floodlight", type: "custom", mode: "dark", warnings: [], backgrounds: [] },
    colors: { accent: "#4B3FD1", highlight: "#FACC15", surface1: "#0B0B12", surface2: "#16161F", text100: "#FFFFFF", text200: "#C9C9D6" },
    ...{ button: { borderRadius: "pill", textCapitalization: "original" }, typography: { body: "Inter", headline: "Archivo" } },
    ...{ logo: "https://demo.example/crest.svg", icon: "https://demo.example/icon.png" },
  };
}

/** The values of an event's sample, for those of its fields that are told here. */
export function sampleValues(type: string): Values {
  return Object.fromEntries(
    [COMMON_VALUES, ...VALUES.filter(([types]) => types.test(type)).map(([, values]) => values)].flatMap((values) =>
      Object.entries(values),
    ),
  );
}
