import type { Schema } from "./schema.ts";

/** What a field can refer to, which people know by its name. */
export const REFERENCE_KINDS = [
  ...(["channels", "pages", "panels", "navigations", "themes", "channelTemplates", "videos", "playlists", "events"] as const),
  ...(["overlays", "graphics", "media", "polls", "quests", "leaderboards", "subscriptions", "streams"] as const),
] as const;
export type ReferenceKind = (typeof REFERENCE_KINDS)[number];

const ID = "^[0-9a-f]{24}$";

const BY_NAME: Readonly<Record<string, ReferenceKind>> = {
  video_id: "videos",
  videoId: "videos",
  theme: "themes",
  navigation: "navigations",
  panels: "panels",
  panelId: "panels",
  pageId: "pages",
  pages: "pages",
  channelId: "channels",
  channels: "channels",
  source_channels: "channels",
  playlist_id: "playlists",
  quest_id: "quests",
  poll_id: "polls",
  leaderboard_id: "leaderboards",
  thank_you_overlay_id: "overlays",
  graphic: "graphics",
  mediaId: "media",
};
/** What an id is of, as a choice beside it says. */
const BY_CHOICE: Readonly<Record<string, ReferenceKind>> = {
  video: "videos",
  playlist: "playlists",
  page: "pages",
  pages: "pages",
  panel: "panels",
  panels: "panels",
  overlay: "overlays",
  overlays: "overlays",
  event: "events",
  stream: "streams",
  poll: "polls",
  quest: "quests",
  quests: "quests",
};

/** References by SKU, which has no form of its own. */
const SKUS = new Set(["skus", "subscriptions"]);

/** What a text refers to; undefined if it isn't a reference. */
export function referenceOf(name: string, { type, pattern, description = "" }: Schema): ReferenceKind | undefined {
  if (type !== "string") return undefined;
  if (SKUS.has(name)) return "subscriptions";
  if (pattern !== ID) return undefined;
  if (name === "templateId") return /channel template/i.test(description) ? "channelTemplates" : "overlays";
  return BY_NAME[name];
}

/** Whether a text is the id of something of any kind. */
export function isId({ pattern }: Pick<Schema, "pattern">): boolean {
  return pattern === ID;
}

/** What an id is of where the choice beside it has this value; undefined for what has no list. */
export function referenceByChoice(value: string): ReferenceKind | undefined {
  return BY_CHOICE[value];
}
