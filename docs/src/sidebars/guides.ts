import type { SidebarItem } from "./sidebar.ts";

export const guides: SidebarItem[] = [
  { label: "Studio", items: [{ label: "Studio", slug: "guides/studio" }] },
  {
    label: "Integration",
    items: [
      { label: "From site to viewers", slug: "guides/integration" },
      { label: "Sports stats", slug: "guides/integration/stats" },
      { label: "Match facts", slug: "guides/match-facts" },
      { label: "Schedule", slug: "guides/schedule" },
      { label: "Rundowns", slug: "guides/rundowns" },
      { label: "Accounts", slug: "guides/accounts" },
      { label: "Segments", slug: "guides/segments" },
      { label: "Languages", slug: "guides/languages" },
      { label: "Video players", slug: "guides/video-players" },
      { label: "Chat and Q&A", slug: "guides/chat-and-questions" },
      { label: "Polls and predictions", slug: "guides/polls-and-predictions" },
      { label: "Quests and raffles", slug: "guides/quests-and-raffles" },
      { label: "Points and leaderboards", slug: "guides/leaderboards" },
      { label: "Sell access", slug: "guides/sell-access" },
      { label: "Wallets", slug: "guides/wallets" },
      { label: "Donations and shop", slug: "guides/donations-and-shop" },
      { label: "Protect your video", slug: "guides/protect-video" },
      { label: "Output for mixers", slug: "guides/mixers" },
      { label: "Cues in the stream", slug: "guides/cues" },
      { label: "Insights and privacy", slug: "guides/insights" },
    ],
  },
  {
    label: "Connect your systems",
    items: [
      { label: "Data providers", slug: "guides/data-providers" },
      { label: "OGraf graphics", slug: "guides/ograf-graphics" },
      { label: "OAuth providers", slug: "guides/oauth-providers" },
      { label: "Stream providers", slug: "guides/stream-providers" },
      { label: "Chat services", slug: "guides/chat-services" },
      { label: "Your own client", slug: "guides/your-own-client" },
      { label: "Custom code", slug: "guides/custom-code" },
    ],
  },
  {
    label: "Operations",
    items: [
      { label: "Operate a deployment", slug: "guides/operations" },
      { label: "Export and import a site", slug: "guides/move-a-site" },
    ],
  },
];
