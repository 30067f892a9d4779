import type { OpenAPIHono } from "@hono/zod-openapi";
import type { AppEnv } from "#worker/http/app-env.ts";
import type { InProcessApi } from "./mcp/mount.ts";

export type Router = OpenAPIHono<AppEnv>;

/** What the API has below some first segments of its paths. */
export interface Area {
  segments: string[];
  /** Its routers, in the order in which their paths are matched. */
  load: (api: InProcessApi) => Promise<Router[]>;
}

/**
 * The areas of the API. An isolate loads one at its first request: at its start, it needs none of their schemas, which are most of
 * what there is to evaluate. A new area adds an entry here, and its tag below.
 */
export const AREAS: Area[] = [
  area(["accesscode"], () => [import("./access-codes/routes.ts").then(({ accessCodes }) => accessCodes)]),
  area(["account", "add-tags"], () => [import("./accounts/routes.ts").then(({ accounts }) => accounts)]),
  area(["site"], () => [
    import("./sites/api-keys.ts").then(({ apiKeys }) => apiKeys),
    import("./sites/playback-keys.ts").then(({ playbackKeys }) => playbackKeys),
    import("./sites/archives.ts").then(({ archives }) => archives),
    import("./sites/sandboxes.ts").then(({ sandboxes }) => sandboxes),
    import("./sites/segments.ts").then(({ segments }) => segments),
    import("./sites/setup-links.ts").then(({ setupSites }) => setupSites),
    import("./sites/routes.ts").then(({ sites }) => sites),
  ]),
  area([".well-known", "auth"], () => [import("./auth/routes.ts").then(({ auth }) => auth)]),
  area(["personalization"], () => [import("./automation-rules/routes.ts").then(({ automationRules }) => automationRules)]),
  area(["billing"], () => [import("./billing/routes.ts").then(({ billing }) => billing)]),
  area(["bundle"], () => [import("./bundles/routes.ts").then(({ bundles }) => bundles)]),
  area(["chat"], () => [
    import("./chat/moderation.ts").then(({ moderation }) => moderation),
    import("./chat/routes.ts").then(({ chat }) => chat),
  ]),
  area(["claimstatus"], () => [import("./claim-statuses/routes.ts").then(({ claimStatuses }) => claimStatuses)]),
  area(["community"], () => [import("./community/routes.ts").then(({ community }) => community)]),
  area(["subscription"], () => [
    import("./subscriptions/checkout.ts").then(({ checkout }) => checkout),
    import("./subscriptions/routes.ts").then(({ subscriptions }) => subscriptions),
  ]),
  area(["customemail"], () => [import("./custom-email/routes.ts").then(({ customEmail }) => customEmail)]),
  area(["dataprovider"], () => [import("./data-providers/routes.ts").then(({ dataProviders }) => dataProviders)]),
  area(["demo"], () => [import("./demo-match/routes.ts").then(({ demoMatch }) => demoMatch)]),
  area(["event"], () => [import("./events/routes.ts").then(({ events }) => events)]),
  area(["health", "ops"], () => [
    import("./health/routes.ts").then(({ health }) => health),
    import("./health/backups.ts").then(({ backups }) => backups),
    import("./health/site-moves.ts").then(({ siteMoves }) => siteMoves),
    import("./health/alerts.ts").then(({ alerts }) => alerts),
  ]),
  area(["insights"], () => [import("./insights/routes.ts").then(({ insights }) => insights)]),
  area(["invite"], () => [import("./invites/routes.ts").then(({ invites }) => invites)]),
  area(["leaderboard"], () => [import("./leaderboards/routes.ts").then(({ leaderboards }) => leaderboards)]),
  { segments: ["mcp"], load: async (api) => [(await import("./mcp/mount.ts")).mcpRouter(api)] },
  area(["media"], () => [import("./media/routes.ts").then(({ media }) => media)]),
  area(["navigation"], () => [import("./navigation/routes.ts").then(({ navigation }) => navigation)]),
  area(["overlay", "output"], () => [
    import("./outputs/routes.ts").then(({ outputs }) => outputs),
    // Before overlays, whose paths accept any id.
    import("./overlays/graphics.ts").then(({ graphics }) => graphics),
    import("./overlays/routes.ts").then(({ overlays }) => overlays),
  ]),
  area(["page"], () => [
    // Before pages, whose paths accept any id where these have fixed segments.
    import("./pages/templates.ts").then(({ channelTemplates }) => channelTemplates),
    import("./pages/configuration.ts").then(({ configurations }) => configurations),
    import("./pages/devices.ts").then(({ devices }) => devices),
    import("./pages/content.ts").then(({ pageContent }) => pageContent),
    import("./pages/routes.ts").then(({ pages }) => pages),
  ]),
  area(["panel"], () => [
    // Before panels, whose paths accept any id.
    import("./panels/embeds.ts").then(({ panelEmbeds }) => panelEmbeds),
    import("./panels/routes.ts").then(({ panels }) => panels),
  ]),
  area(["playlist"], () => [import("./playlists/routes.ts").then(({ playlists }) => playlists)]),
  area(["poll"], () => [import("./polls/routes.ts").then(({ polls }) => polls)]),
  area(["qna"], () => [import("./qna/routes.ts").then(({ questions }) => questions)]),
  area(["quest"], () => [import("./quests/routes.ts").then(({ quests }) => quests)]),
  area(["realtime"], () => [
    import("./realtime/routes.ts").then(({ realtime }) => realtime),
    import("./realtime/manifest.ts").then(({ manifests }) => manifests),
    import("./realtime/recording.ts").then(({ recordings }) => recordings),
  ]),
  area(["rundown"], () => [import("./rundowns/routes.ts").then(({ rundowns }) => rundowns)]),
  area(["schedule"], () => [import("./schedule/routes.ts").then(({ schedule }) => schedule)]),
  area(["shopify"], () => [import("./shop/routes.ts").then(({ shop }) => shop)]),
  area(["stats"], () => [import("./stats/routes.ts").then(({ stats }) => stats)]),
  area(["streamprovider"], () => [import("./stream-providers/routes.ts").then(({ streamProviders }) => streamProviders)]),
  area(["stream"], () => [import("./streams/routes.ts").then(({ streams }) => streams)]),
  area(["themes"], () => [import("./themes/routes.ts").then(({ themes }) => themes)]),
  area(["userprofile"], () => [import("./user-profiles/routes.ts").then(({ userProfiles }) => userProfiles)]),
  area(["video"], () => [import("./videos/routes.ts").then(({ videos }) => videos)]),
  area(["wallet"], () => [import("./wallets/routes.ts").then(({ wallets }) => wallets)]),
  area(["webhooks"], () => [
    import("./webhooks/deliveries.ts").then(({ deliveries }) => deliveries),
    import("./webhooks/routes.ts").then(({ webhooks }) => webhooks),
  ]),
];

function area(segments: string[], routers: () => Promise<Router>[]): Area {
  return { segments, load: () => Promise.all(routers()) };
}

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
