// What unauthenticated callers can read: every field of every response schema of the operations that require only a client id. When you
// add a field, decide here whether a viewer's page needs it; a field that isn't listed fails the tests.

export interface PublicFields {
  /** Needed by a viewer's page. */
  shown: string[];
  /** Part of the schema, but returned only to callers who manage the site. */
  withheld: string[];
}

function fields(shown: string, withheld = ""): PublicFields {
  return { shown: wordsOf(shown), withheld: wordsOf(withheld) };
}

/** A schema that unauthenticated callers never see. */
function hidden(withheld: string): PublicFields {
  return fields("", withheld);
}

function wordsOf(text: string): string[] {
  return text.split(/\s+/).filter((word) => word !== "");
}

const LIST = "results pagination";
const PANEL = "panel_type panel_name icon_name id description image_url help_link_url login_button_text disable_on_mobile_embedded";

/** By the schema's name in the OpenAPI document; nested objects by their path. */
export const PUBLIC_FIELDS: Record<string, PublicFields> = {
  Account: fields(
    "_id siteId uid globalAccountID email name normalizedName hash lastLogin emailVerified thirdPartyAuthProviders roles subscriptions marketingOptin tags created modified",
  ),
  "Account.thirdPartyAuthProviders": fields("accountId provider"),
  AccountDeviceCheck: fields("accountDevices accountOverDeviceLimit siteDeviceLimit"),
  AccountRole: fields("scope pageId write"),
  AchievementLeaderboardRenderer: fields(`${PANEL} rules_link_url quests show_completed_count`),
  "AchievementLeaderboardRenderer.quests": fields("array_id quest_id"),
  Bundle: fields("id siteId name sku price presentmentCurrency items description image created modified"),
  BundleItem: fields("type id"),
  BundleList: fields(LIST),
  ChatMessage: fields(
    "_id chatSeq accountId name roles system text language translation replyTo mentions reactions reacted state sentAt",
    "original muted",
  ),
  "ChatMessage.translation": fields("language text"),
  ChatMessagePage: fields("results before"),
  ChatSettings: fields("channelId mode slowSeconds premoderate skus emoji languages pinned system created modified"),
  "ChatSettings.system": fields("name image welcomeMessage"),
  CalendarCategory: fields("title label"),
  CalendarDate: fields("startTimestamp endTimestamp timeZone useEndTime"),
  CalendarEvent: fields("_id siteId channelId titleRaw descriptionRaw categories date image thirdPartyEventId created modified"),
  CalendarEventList: fields(LIST),
  CalendarFilter: fields("title labels"),
  CalendarFilterList: fields(LIST),
  CalendarImage: fields("show src"),
  CanIPlay: fields("access live offset previewTimeRemainingSeconds userHasChannelGateEntitlement userHasVideoEntitlement video"),
  "CanIPlay.video": fields("_id title player type url urlExpires thumbnail"),
  CanIPlayResponse: fields("contentCheck deviceCheck error"),
  "CanIPlayResponse.error": fields("type message"),
  CategoryCount: fields("title events"),
  CategoryCountList: fields(LIST),
  ChannelSelectRenderer: fields(`${PANEL} behavior`),
  "ChannelSelectRenderer.behavior": fields("view kind pages"),
  ChatRenderer: fields(`${PANEL} rules_link_url allow_non_admin_links system_name system_image system_welcome_message filtered_words`),
  ConsumedIntent: fields("authenticated jwt refreshToken service siteId token name thirdPartyAccountId"),
  DonationsRenderer: fields(`${PANEL} url`),
  GameList: fields(LIST),
  "GameList.pagination": fields("limit offset pageResults totalCount"),
  "GameList.results": fields("id name"),
  // Only to the person with the token from their own email.
  GlobalAccount: fields("_id email created"),
  Group: fields("id group_name group_bio group_banner_url group_links"),
  "Group.group_links": fields("generated_key link_text link_url link_icon_name"),
  Health: fields("status database objects"),
  IframeRenderer: fields(`${PANEL} enable_dark_theme iframe_tag`),
  ImageRenderer: fields(`${PANEL} url`),
  Imagev2Renderer: fields(`${PANEL} url`),
  Intent: fields("token expiresAt"),
  Jwks: fields("keys"),
  "Jwks.keys": fields("kty crv alg use kid x"),
  LabelCount: fields("label events"),
  LabelCountList: fields(LIST),
  LeaderboardAchievementRenderer: fields(`${PANEL} rules_link_url quests show_completed_count`),
  "LeaderboardAchievementRenderer.quests": fields("array_id quest_id"),
  Limit: fields("name description per limit window remaining reset"),
  LimitList: fields("limits"),
  MultipleChoiceRenderer: fields(`${PANEL} rules_link_url questions`),
  "MultipleChoiceRenderer.questions": fields("array_id poll_id"),
  Navigation: fields("_id siteId name type parents externalLinks created modified"),
  "Navigation.externalLinks": fields("name url"),
  NavigationEntry: fields("type pageId name private children"),
  NavigationEntryLevel2: fields("type pageId name private children"),
  NavigationEntryLevel3: fields("type pageId name private children"),
  NavigationEntryLevel4: fields("type pageId name private"),
  NavigationList: fields(LIST),
  Page: fields("_id collection type site_id slug seo style active_renderers renderers tags data created modified"),
  "Page.seo": fields("title description"),
  PageConfiguration: fields("panels page insights site theme"),
  "PageConfiguration.insights": fields("_id version"),
  "PageConfiguration.page": fields("_id slug type name"),
  "PageConfiguration.panels": fields("_id slug panel_name panel_type icon_name renderer"),
  "PageConfiguration.site": fields("_id"),
  "PageConfiguration.theme": fields("name type mode colors button typography logo"),
  "PageConfiguration.theme.button": fields("borderRadius textCapitalization"),
  "PageConfiguration.theme.typography": fields("body headline"),
  PageContent: fields("canIPlayResponse channel"),
  PageData: fields(
    "name gate schedule regions countdown welcome_screen sidebar artwork content default_mode channel_select_active_image_url theme navigation external_field_1 external_field_2 external_field_3 external_field_4 external_field_5",
  ),
  "PageData.content": fields("live offline"),
  "PageData.content.live": fields("video_id"),
  "PageData.content.offline": fields("video_id"),
  "PageData.gate": fields("type skus"),
  "PageData.schedule": fields("startTimestamp endTimestamp"),
  "PageData.sidebar": fields("panels"),
  "PageData.welcome_screen": fields("duration"),
  PageList: fields(LIST),
  Pagination: fields("limit offset totalCount pageResults search searchFields sortBy sortDirection first last next prev self"),
  PeopleGroupsRenderer: fields(`${PANEL} people groups`),
  Person: fields("id person_name person_title person_bio person_image_url person_links"),
  "Person.person_links": fields("link_text link_url link_icon_name"),
  Playlist: fields("_id siteId title description members tags created modified"),
  PlaylistMember: fields("id schema"),
  PlaylistRenderer: fields(`${PANEL} playlist_id`),
  Poll: fields("_id siteId type question name open responsesPerViewer hideResults correctAnswerId settled answers created modified"),
  PollAnswer: fields("_id pollId answer imageUrl"),
  PollList: fields(LIST),
  PollResults: fields("pollId open total hidden answers correctAnswerId"),
  "PollResults.answers": fields("answerId answer responses share"),
  ProjectedPage: fields("_id collection type site_id slug seo style active_renderers renderers tags data created modified"),
  "ProjectedPage.seo": fields("title description"),
  ProjectedPageList: fields(LIST),
  ProjectedPlaylist: fields("_id siteId title description members tags created modified"),
  ProjectedPlaylistList: fields(LIST),
  PubgMatchRenderer: fields(`${PANEL} rules_link_url url`),
  Question: fields(
    "_id channelId accountId name text state upvotes upvoted answer answeredBy mergedInto askedAt revision",
    "original muted",
  ),
  QuestionAnswerRenderer: fields(`${PANEL} rules_link_url prompt sort_by show_answered`),
  QuestionList: fields(`${LIST} moderates`),
  QuestsRenderer: fields(`${PANEL} rules_link_url quests show_completed_count`),
  "QuestsRenderer.quests": fields("array_id quest_id"),
  QuickPickRenderer: fields(`${PANEL} rules_link_url questions`),
  "QuickPickRenderer.questions": fields("array_id poll_id"),
  ScheduleRenderer: fields(`${PANEL} group_by_date schedule_type_renderer`),
  "ScheduleRenderer.schedule_type_renderer": fields("schedule_type source_channels manual_events"),
  "ScheduleRenderer.schedule_type_renderer.manual_events": fields("array_id name start_time end_time location more_info references"),
  "ScheduleRenderer.schedule_type_renderer.manual_events.references": fields("collection id"),
  ShopifyRenderer: fields(`${PANEL} url`),
  SiteAsRead: fields(
    "_id name slug collections regions style features created modified settings",
    "shards tags devicelimit contractServiceChargeRate adminTheme",
  ),
  "SiteAsRead.settings": fields(
    "transitions domain code_injection loginMarketingOptIn localization style seo",
    "security userSegments events email customEmails streamProvider",
  ),
  "SiteAsRead.settings.security": hidden("allowedOrigins allowNewAdmins requireVerifiedEmail requireStaffTotp longInviteTokens providers"),
  "SiteAsRead.settings.security.providers": hidden("name jwksUrl audience"),
  SiteRegions: fields("header footer navigation player featured"),
  SocialRenderer: fields(`${PANEL} enable_dark_theme sources`),
  "SocialRenderer.sources": fields("array_id source"),
  Subscription: fields(
    "_id siteId name sku subscriptionProvider recurrence prices previewDurationSeconds tags created modified",
    "stripePlanId",
  ),
  SubscriptionList: fields(LIST),
  SubscriptionPrice: fields("currency default value", "paymentPlanId"),
  Success: fields("success"),
  Theme: fields("_id siteId name mode colors button typography logo icon backgrounds type warnings created modified"),
  "Theme.button": fields("borderRadius textCapitalization"),
  "Theme.typography": fields("body headline"),
  "Theme.warnings": fields("path message"),
  ThemeColors: fields(
    "accent highlight surface1 surface2 surface3 surface4 surface5 surface6 text100 text200 text300 text400 text500 alertError alertWarning alertSuccess alertInfo",
  ),
  ThemeList: fields("totalCount themes"),
  Tokens: fields("jwt refreshToken service"),
  TvCode: fields("code expiresAt interval"),
  TvStatus: fields("status jwt refreshToken"),
  TwitchChatRenderer: fields(`${PANEL} enable_dark_theme channel`),
  UserProfile: fields("_id accountId name created modified"),
  Video: fields(
    "_id siteId title description thumbnail uploadStatus subscriptions access tags durationSeconds player type url gated streamId liveBroadcastId created modified",
    "playback",
  ),
  "Video.playback": hidden("provider id"),
  VideoList: fields(LIST),
  VideoMetadata: fields("title description durationSeconds player thumbnail type url tags created modified"),
  VideoTotalViews: fields("id views"),
  WebhookCatalogue: fields("results"),
  "WebhookCatalogue.results": fields("type description services schema sample"),
  WebhookEventData: fields("id type created sequence previousSequence resource data"),
  WebhookPayload: fields("account eventData method originPath service signature webhookUrl"),
};
