// Lists that tables and wire schemas share.

export const OVERLAY_TYPES = ["template", "instance"] as const;
export const OVERLAY_KINDS = ["html", "rive"] as const;
export const POSITIONS = [
  "topLeft",
  "topCenter",
  "topRight",
  "centerLeft",
  "center",
  "centerRight",
  "bottomLeft",
  "bottomCenter",
  "bottomRight",
] as const;
export const CTA_TYPES = [
  "facebook_share",
  "go_to_channel",
  "login",
  "open_link",
  "play_video",
  "show_player_stats",
  "show_group",
  "show_panel",
  "show_stored_panel",
  "show_person",
  "tweet",
] as const;
export const PANEL_TYPES = [
  "chat",
  "twitch_chat",
  "iframe",
  "schedule",
  "quests",
  "social",
  "channel_select",
  "peopleGroups",
  "leaderboard_achievement",
  "achievement_leaderboard",
  "playlist",
  "shopify",
  "image",
  "imagev2",
  "donations",
  "quick_pick",
  "pubgMatch",
  "multiple_choice",
] as const;
export const COLLECTION_TYPES = ["panels", "cards", "overlays", "quests", "pages", "groups"] as const;
export const NAVIGATION_TYPES = ["default", "custom"] as const;
export const NAVIGATION_ENTRY_TYPES = ["channel", "landing", "folder"] as const;
export const THEME_TYPES = ["admin", "classic", "advanced", "custom", "default"] as const;
export const THEME_MODES = ["light", "dark"] as const;
export const BORDER_RADII = ["rounded", "square", "pill"] as const;
export const TEXT_CAPITALIZATIONS = ["uppercase", "original", "lowercase"] as const;
export const SURFACES = ["surface1", "surface2", "surface3", "surface4", "surface5", "surface6"] as const;
export const TEXT_COLORS = ["text100", "text200", "text300", "text400", "text500"] as const;
export const ALERT_COLORS = ["alertError", "alertWarning", "alertSuccess", "alertInfo"] as const;
export const PAGE_TYPES = ["channel", "landing"] as const;
export const PLAY_ACCESS = ["full", "preview", "preview_over"] as const;
export const CAN_I_PLAY_ERRORS = [
  "region",
  "not_started",
  "ended",
  "sign_in_required",
  "no_entitlement",
  "preview_over",
  "device_limit",
] as const;
export const GATE_TYPES = ["none", "login", "entitlement"] as const;
export const ROLE_SCOPES = ["*", "Chat_Moderator", "Question_Answer_Moderator"] as const;
export const ACCESS_CODE_TYPES = ["subscription", "login"] as const;
export const SUBSCRIPTION_PROVIDERS = ["stripe", "external"] as const;
export const RECURRENCES = ["once", "month", "year"] as const;
export const GRANT_METHODS = ["accessCode", "purchased", "customerService"] as const;
export const ENTITLEMENT_STATUSES = ["active", "cancelled", "cancelScheduled"] as const;
export const INTENT_KINDS = ["partner", "invite"] as const;
export const STREAM_CALLS = ["start", "stop", "delete"] as const;
export const VIDEO_PLAYERS = [
  "youtube",
  "dailymotion",
  "facebook",
  "facebook_live",
  "facemask",
  "file",
  "mixcloud",
  "mlg",
  "iframe",
  "tifo",
  "soundcloud",
  "twitch",
  "vimeo",
] as const;
export const VIDEO_TYPES = ["vod", "livestream"] as const;
export const UPLOAD_STATUSES = ["pending", "complete"] as const;
export const MEMBER_SCHEMAS = ["video", "playlist", "page", "panel", "overlay", "event", "stream", "poll", "quest"] as const;
export const MEDIA_KINDS = ["image", "rive", "caption"] as const;
