import { accessCodes } from "./access-codes/routes.ts";
import { accounts } from "./accounts/routes.ts";
import { automationRules } from "./automation-rules/routes.ts";
import { auth } from "./auth/routes.ts";
import { moderation as chatModeration } from "./chat/moderation.ts";
import { chat } from "./chat/routes.ts";
import { claimStatuses } from "./claim-statuses/routes.ts";
import { community } from "./community/routes.ts";
import { dataProviders } from "./data-providers/routes.ts";
import { demoMatch } from "./demo-match/routes.ts";
import { events } from "./events/routes.ts";
import { billing } from "./billing/routes.ts";
import { bundles } from "./bundles/routes.ts";
import { customEmail } from "./custom-email/routes.ts";
import { alerts } from "./health/alerts.ts";
import { backups } from "./health/backups.ts";
import { health } from "./health/routes.ts";
import { insights } from "./insights/routes.ts";
import { navigation } from "./navigation/routes.ts";
import { media } from "./media/routes.ts";
import { invites } from "./invites/routes.ts";
import { leaderboards } from "./leaderboards/routes.ts";
import { outputs } from "./outputs/routes.ts";
import { graphics } from "./overlays/graphics.ts";
import { overlays } from "./overlays/routes.ts";
import { configurations } from "./pages/configuration.ts";
import { pageContent } from "./pages/content.ts";
import { devices } from "./pages/devices.ts";
import { pages } from "./pages/routes.ts";
import { channelTemplates } from "./pages/templates.ts";
import { panelEmbeds } from "./panels/embeds.ts";
import { panels } from "./panels/routes.ts";
import { playlists } from "./playlists/routes.ts";
import { polls } from "./polls/routes.ts";
import { questions } from "./qna/routes.ts";
import { quests } from "./quests/routes.ts";
import { manifests } from "./realtime/manifest.ts";
import { recordings } from "./realtime/recording.ts";
import { realtime } from "./realtime/routes.ts";
import { rundowns } from "./rundowns/routes.ts";
import { schedule } from "./schedule/routes.ts";
import { shop } from "./shop/routes.ts";
import { apiKeys } from "./sites/api-keys.ts";
import { archives } from "./sites/archives.ts";
import { playbackKeys } from "./sites/playback-keys.ts";
import { sandboxes } from "./sites/sandboxes.ts";
import { segments } from "./sites/segments.ts";
import { setupSites } from "./sites/setup-links.ts";
import { sites } from "./sites/routes.ts";
import { stats } from "./stats/routes.ts";
import { streamProviders } from "./stream-providers/routes.ts";
import { streams } from "./streams/routes.ts";
import { subscriptions } from "./subscriptions/routes.ts";
import { checkout } from "./subscriptions/checkout.ts";
import { themes } from "./themes/routes.ts";
import { userProfiles } from "./user-profiles/routes.ts";
import { videos } from "./videos/routes.ts";
import { deliveries } from "./webhooks/deliveries.ts";
import { wallets } from "./wallets/routes.ts";
import { webhooks } from "./webhooks/routes.ts";

/** The routers of all areas, in the order in which their paths are matched. A new area adds a line here, and its tag below. */
export const AREAS = [
  accessCodes,
  accounts,
  apiKeys,
  playbackKeys,
  archives,
  sandboxes,
  auth,
  automationRules,
  billing,
  bundles,
  chatModeration,
  chat,
  claimStatuses,
  community,
  checkout,
  customEmail,
  dataProviders,
  demoMatch,
  events,
  health,
  backups,
  alerts,
  insights,
  invites,
  leaderboards,
  media,
  navigation,
  outputs,
  // Before overlays, whose paths accept any id.
  graphics,
  overlays,
  // Before pages, whose paths accept any id where these have fixed segments.
  channelTemplates,
  configurations,
  devices,
  pageContent,
  pages,
  // Before panels, whose paths accept any id.
  panelEmbeds,
  panels,
  playlists,
  polls,
  questions,
  quests,
  realtime,
  rundowns,
  manifests,
  recordings,
  segments,
  setupSites,
  schedule,
  shop,
  sites,
  stats,
  streamProviders,
  streams,
  subscriptions,
  themes,
  userProfiles,
  videos,
  wallets,
  deliveries,
  webhooks,
];

/** Descriptions of the document's tags; a test compares the list with the tags in use. */
export const TAGS = {
  Authentication: "Sign-in, sign-out, and the public keys that verify access tokens.",
  Accounts: "The users of a site: viewers, creators and admins.",
  "Access codes": "Coupons that grant a subscription or a login, and codes for signing in on TVs.",
  Invites: "Magic links that open a gate, and email invitations to accounts with roles.",
  Subscriptions: "What a site sells or grants, and who has it.",
  "User profiles": "The public profile of an account.",
  Sites: "Site settings, developer keys, and the creation of sites.",
  "Custom e-mail": "The sender and the receipt template of a site's e-mail.",
  Navigation: "The menus of a site and the pages that show them.",
  Themes: "The look of channels: colours, typography, buttons.",
  Panels: "Content beside the video: chat, schedule, quests and more.",
  Pages: "Channels and landing pages.",
  Outputs: "A channel's overlays as a page for OBS, vMix and other mixers.",
  Overlays: "Graphics over the video: create, broadcast and clear them.",
  "Data providers": "External systems that send events, and the events they send.",
  "Automation rules": "Actions that run automatically when a data provider sends a matching event.",
  Videos: "Recordings and livestreams from any player, and their view counts.",
  Playlists: "Ordered lists of videos and other content.",
  Community: "The members of a site: search, grant, cancel, refund and export.",
  Polls: "Polls, predictions and trivia: create, vote, count and settle.",
  Questions: "Q&A: viewers ask and upvote, moderators approve, answer and show questions on screen.",
  Streams: "Live streams: create, start and stop them at their stream provider.",
  "Stream providers": "External systems that run a site's streams.",
  Calendar: "Scheduled events, for pages and calendar apps.",
  Quests: "Tasks with rewards: create quests, track progress, claim rewards and draw raffles.",
  Leaderboards: "Points for what viewers do, and the ranks that follow from them.",
  Stats: "Players, teams and key plays of a channel's event, from data providers.",
  Rundowns: "The steps of a show: prepare them, take them by hand or at a time, and see what went out.",
  Schedule: "Broadcasts, polls and quests at a set time: schedule, list and cancel them.",
  Claims: "Claimed rewards and their status.",
  Media: "Upload and delivery of images, animations and captions.",
  Billing: "Charges, refunds, and the Stripe integration behind them.",
  Bundles: "Tickets and shop items that are sold together.",
  Shop: "The site's shop at Shopify: products, and the orders that it reports.",
  Wallets: "Balances and their transactions, a payer's Stripe customer and recurring payments.",
  Chat: "A channel's chat: messages, reactions, reports, moderation and bans.",
  Realtime: "The live connection of a channel: tickets, WebSocket and Server-Sent Events.",
  Insights: "Viewers now and over time, engagement per hour, impressions, and remaining rate limits.",
  Webhooks: "Event delivery to other systems.",
  Health: "Whether the deployment is healthy, and its state for the operator.",
} as const;
