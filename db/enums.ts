// Lists that tables and wire schemas share.

export const OVERLAY_TYPES = ["template", "instance"] as const;
export const OVERLAY_KINDS = ["html", "rive", "kit", "ograf"] as const;
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
/** Kinds of viewer activity that a connection reports. */
export const ACTIVITY_KINDS = ["watch", "channel", "panel"] as const;
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
  "question_answer",
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
export const CHAT_MODES = ["open", "members", "paused"] as const;
export const CHAT_MESSAGE_STATES = ["visible", "held", "removed"] as const;
export const CHAT_SENDER_ROLES = ["admin", "moderator"] as const;
export const CHAT_BAN_KINDS = ["ban", "mute"] as const;
export const CHAT_DECISIONS = ["approve", "reject"] as const;
export const ACCESS_CODE_TYPES = ["subscription", "login"] as const;
export const SUBSCRIPTION_PROVIDERS = ["stripe", "external"] as const;
export const RECURRENCES = ["once", "month", "year"] as const;
export const GRANT_METHODS = ["accessCode", "purchased", "customerService"] as const;
export const ENTITLEMENT_STATUSES = ["active", "cancelled", "cancelScheduled"] as const;
export const EXPORT_STATUSES = ["pending", "running", "complete", "failed"] as const;
/** What an emailed token verifies the address for: the account itself, or a global account. */
export const EMAIL_PROOF_PURPOSES = ["verify", "global"] as const;
export type EmailProofPurpose = (typeof EMAIL_PROOF_PURPOSES)[number];
/** Why a sign-in failed: a wrong password, or a wrong code of the authenticator app. */
export const SIGN_IN_FAILURES = ["password", "code"] as const;
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
export const VIDEO_ACCESS = ["inherit", "gated"] as const;
export const PLAYBACK_PROVIDERS = ["mux", "cloudflare-stream", "hmac"] as const;
export const UPLOAD_STATUSES = ["pending", "complete"] as const;
export const MEMBER_SCHEMAS = ["video", "playlist", "page", "panel", "overlay", "event", "stream", "poll", "quest"] as const;
export const MEDIA_KINDS = ["image", "rive", "caption"] as const;
export const QUEST_KINDS = [
  "answer:polls:any",
  "answer:predictions:any",
  "answer:predictions:any:correctly",
  "answer:trivia:any",
  "answer:trivia:any:correctly",
  "answer:polls:specific",
  "answer:predictions:specific",
  "answer:predictions:specific:correctly",
  "answer:trivia:specific",
  "answer:trivia:specific:correctly",
  "impossible",
  "open:link",
  "quest:view",
  "retweet",
  "share:facebook:video",
  "view:panel",
  "visit:channel",
  "visit:time",
  "watch:any:video",
  "watch:specific:video",
] as const;
export const REWARD_TYPES = ["raffle", "prize", "webhook", "prize-service-specific"] as const;
export const CLAIM_STATUSES = ["PENDING", "ERROR", "SUCCESS", "ERROR_REGION"] as const;
/** A question of the audience: waiting, public, rejected, public with an answer, or part of another question. */
export const QUESTION_STATES = ["submitted", "approved", "dismissed", "answered", "merged"] as const;
export const QUESTION_SORTS = ["upvotes", "created"] as const;
export const POLL_TYPES = ["poll", "prediction", "trivia"] as const;

export const LEADERBOARD_PERIODS = ["event", "season", "all"] as const;
/** What a leaderboard's rules can award points for. */
export const POINTS_SOURCES = [
  "poll.answered",
  "prediction.correct",
  "trivia.correct",
  "quest.completed",
  "claim.succeeded",
  "minute.watched",
  "message.liked",
] as const;

/** The services whose events an endpoint can subscribe to. */
export const WEBHOOK_SERVICES = [
  "accesscode-service-v1",
  "account-service-v3",
  "admin-service-v1",
  "auth-service-v2",
  "billing-service-v1",
  "page-service-v2",
  "shopify-service-v1",
  "video-service-v3",
  "wallet-service-v1",
  "community-service-v1",
  "dataprovider-service-v1",
  "event-service-v1",
  "invite-service-v1",
  "leaderboard-service-v1",
  "overlay-service-v1",
  "poll-service-v3",
  "qna-service-v1",
  "quest-service-v2",
  "schedule-service-v1",
  "stream-service-v1",
  "subscription-service-v2",
  "rundown-service-v1",
] as const;
export type WebhookService = (typeof WEBHOOK_SERVICES)[number];
export const WEBHOOK_KINDS = ["site", "programmatic"] as const;
/** `gone`: the receiver returned 410. `failing`: no delivery has succeeded for days. */
export const WEBHOOK_DISABLED_REASONS = ["gone", "failing"] as const;
/** Why a session ended early. */
export const SESSION_ENDS = ["signedOut", "refreshTokenReused", "totpEnabled"] as const;
/** The password of an account of the site, or of a global account that administers it. */
export const PASSWORD_KINDS = ["site", "global"] as const;
export type PasswordKind = (typeof PASSWORD_KINDS)[number];
export const PAYMENT_STATUSES = ["complete", "declined", "pending"] as const;
export const REFUND_REASONS = ["duplicate", "fraudulent", "requested_by_customer"] as const;
export const BILLING_PERIODS = ["month", "year"] as const;
export const SALE_TYPES = ["subscription", "bundle", "donation"] as const;
export const WALLET_OWNERS = ["account", "site"] as const;
export const BUNDLE_ITEM_TYPES = ["ticket", "shopify"] as const;
export const CANCEL_SCHEDULES = ["immediate", "endOfBilling"] as const;
export const RULE_OPERATORS = ["equals", "not_equals", "greater_than", "less_than", "contains"] as const;
export const RULE_BEHAVIORS = ["immediate", "delayed"] as const;
export const RULE_SCOPES = ["channel", "channel_metadata", "specific_channels", "all_channels"] as const;
export const RULE_SEGMENTS = ["viewers_all", "viewers_with_tags", "viewers_in_segment"] as const;
export const FIRING_OUTCOMES = ["scheduled", "sent", "created", "locked", "failed", "dropped"] as const;
export const FACT_TYPES = ["string", "number", "boolean", "array", "any"] as const;
/** What is counted per channel and hour. `peakViewers` and `sitePeakViewers` are maxima, all others sums. */
export const INSIGHT_METRICS = [
  "peakViewers",
  "sitePeakViewers",
  "viewerSeconds",
  "newViewers",
  "siteNewViewers",
  "overlayImpressions",
  "panelImpressions",
  "pollImpressions",
  "questImpressions",
  "callsToAction",
  "panelOpens",
  "videoPlays",
  "votes",
  "claims",
  "messages",
  "purchases",
  "donations",
] as const;
export type InsightMetric = (typeof INSIGHT_METRICS)[number];
/** What viewers report that they were shown or have done. */
export const IMPRESSION_KINDS = [
  "overlay.shown",
  "panel.shown",
  "poll.shown",
  "quest.shown",
  "overlay.cta",
  "panel.open",
  "video.play",
] as const;
/** The same, what overlays report by broadcast, and the accounts that have responded to a poll. */
export const REACH_KINDS = [...IMPRESSION_KINDS, "broadcast.shown", "broadcast.cta", "poll.answered"] as const;
/** What can be scheduled. */
export const SCHEDULED_KINDS = ["overlay.broadcast", "poll.open", "poll.close", "quest.open", "quest.close"] as const;
/** `missed`: it was more than five minutes late, and showing it then would have surprised the audience. */
export const SCHEDULED_STATES = ["pending", "done", "failed", "missed", "cancelled"] as const;
export const SCHEDULED_SOURCES = ["request", "poll", "quest"] as const;
export const RUNDOWN_ITEM_KINDS = ["broadcast", "poll", "quest", "raffle", "stream", "wait", "note"] as const;
/** `pending`: the stream's provider hasn't responded yet. `missed`: as of a scheduled action. */
export const TAKE_STATES = ["done", "pending", "failed", "missed"] as const;
export const TAKE_ACTIONS = ["open", "close", "settle", "start", "stop"] as const;
/** `backup`: an export for the operator, kept by the deployment's retention. */
export const ARCHIVE_KINDS = ["export", "import", "backup"] as const;
/** An import is checked completely before anything is written. */
export const ARCHIVE_STATUSES = ["pending", "exporting", "checking", "writing", "complete", "failed"] as const;
export const TAKE_TRIGGERS = ["operator", "time", "wait"] as const;
/** The steps in which an empty site is set up in Studio, in order. */
export const FIRST_RUN_STEPS = ["site", "channel", "overlay", "embed", "invite"] as const;
/**
 * A move of a site between databases. Until `switched`, the site is where it was, and the move can be cancelled; from `fenced` until then,
 * its writes wait. `complete` and `cancelled` are final.
 */
export const SITE_MOVE_PHASES = ["starting", "copying", "fenced", "switched", "closing", "complete", "cancelling", "cancelled"] as const;
