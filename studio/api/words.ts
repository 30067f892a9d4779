/** What people call properties whose names don't say it, in every area of the API that has them. */
const LABELS: Readonly<Record<string, string>> = {
  data: "About",
  slug: "Slug",
  seo: "Search engines",
  gate: "Who may watch",
  skus: "Subscriptions",
  schedule: "When it may be watched",
  startTimestamp: "Starts",
  endTimestamp: "Ends",
  start_time: "Starts",
  end_time: "Ends",
  timeMinimum: "Opens",
  timeMaximum: "Ends",
  startTime: "Start in the video",
  useEndTime: "Has an end",
  regions: "Countries",
  welcome_screen: "Welcome screen",
  content: "What is shown",
  live: "While live",
  offline: "While offline",
  video_id: "Video",
  videoId: "Video",
  default_mode: "Look",
  channel_select_active_image_url: "Image in channel selections",
  active_renderers: "Panels in use (old pages)",
  renderers: "Panels (old pages)",
  templateId: "Made from the template",
  renderer: "Panel",
  panel_type: "Kind of panel",
  panel_name: "Name of the panel",
  icon_name: "Icon",
  help_link_url: "Address of the help page",
  rules_link_url: "Address of the rules",
  login_button_text: "Sign-in button",
  disable_on_mobile_embedded: "Hide on phones where embedded",
  allow_non_admin_links: "Show links of viewers",
  filtered_words: "Filtered words",
  system_name: "Sender of the site’s messages",
  system_image: "Image of that sender",
  system_welcome_message: "Welcome message",
  array_id: "Key of the entry",
  generated_key: "Key of the entry",
  quest_id: "Quest",
  poll_id: "Poll",
  playlist_id: "Playlist",
  leaderboard_id: "Leaderboard",
  thank_you_overlay_id: "Overlay that says thank you",
  mediaId: "File",
  pageId: "Page",
  panelId: "Panel",
  channelId: "Channel",
  accountId: "Account",
  playerId: "Id at the player",
  personId: "Person",
  groupId: "Group",
  titleRaw: "Title",
  descriptionRaw: "Description",
  thirdPartyEventId: "Id in your own system",
  thirdPartyAuthProviders: "Sign-in providers",
  subscriptionProvider: "Sold by",
  stripePlanId: "Price at Stripe",
  paymentPlanId: "Plan at the provider",
  liveBroadcastId: "Broadcast at the player",
  durationSeconds: "Length in seconds",
  previewDurationSeconds: "Free preview in seconds",
  duration: "Seconds",
  uploadStatus: "Upload",
  src: "Address of the file",
  sku: "SKU",
  cta: "Call to action",
  schema: "Kind of member",
  collection: "Kind",
  schedule_type_renderer: "Where the events come from",
  schedule_type: "Source",
  behavior: "Which channels",
  iframe_tag: "Embed code",
  product_handles: "Products",
  externalLinks: "Links to other sites",
  parents: "Entries",
  children: "Entries below",
  item: "Entry",
  minimum_amount: "Least amount",
  maximum_amount: "Greatest amount",
  write: "May change things",
  marketingOptin: "Agrees to marketing e-mails",
  leaderboardHidden: "Unnamed on leaderboards",
  ...Object.fromEntries([1, 2, 3, 4, 5].map((number) => [`external_field_${String(number)}`, `Own field ${String(number)}`])),
};

/** Help where the API's own words are for developers, by property. An empty text leaves it out. */
const HELP: Readonly<Record<string, string>> = {
  slug: "The last part of the page’s address: small letters, digits and hyphens",
  gate: "",
  schedule: "A stream that is still live at the end stays available",
  duration: "",
  useEndTime: "Switched on by default if an end is given",
  regions: "Where it may be watched; empty: everywhere",
  segment: "Only viewers in this segment can see the panel; empty: everyone",
  private: "Shown, with everything below it, only to viewers who may watch its page",
  uploadStatus: "Set by Studio while a file is uploaded",
  subscriptions: "Each of them gives access",
  access: "“As its page”: protected as long as a page shows it that not everybody may watch",
  playback: "How the address is signed, if the player needs that",
  leaderboardHidden: "Leaderboards show the points to others without the name",
  write: "Without it, the role only reads",
  scope: "“Everything” makes an admin of the site or of the channels below",
  previewDurationSeconds: "How long viewers watch before they need it",
  schema: "",
  minimum_amount: "Donors may choose any amount from the least to the greatest",
  array_id: "Nine letters or digits that no other entry of the list has",
  ...Object.fromEntries(
    [1, 2, 3, 4, 5].map((number) => [`external_field_${String(number)}`, "Broadcasts can be limited to pages by this text"]),
  ),
};

/** Choices whose words differ from their value, by property or, under `*`, for all. */
const CHOICES: Readonly<Record<string, Readonly<Record<string, string>>>> = {
  "*": {
    html: "HTML",
    ograf: "OGraf graphic",
    rive: "Rive animation",
    kit: "Template of the kit",
    vod: "Video on demand",
    iframe: "Embedded page",
    tifo: "Tifo",
    mlg: "MLG",
    hmac: "Own CDN (HMAC)",
    mux: "Mux",
    "*": "Everything",
    Chat_Moderator: "Moderates the chat",
    Question_Answer_Moderator: "Moderates questions",
    facebook_live: "Facebook Live",
    tweet: "Write a post on X",
    topCenter: "Top",
    centerLeft: "Left",
    center: "Centre",
    centerRight: "Right",
    bottomCenter: "Bottom",
  },
  gate: { none: "Anyone", login: "Signed-in viewers", entitlement: "Holders of a subscription" },
  access: { inherit: "As its page", gated: "Holders of its subscriptions" },
  panel_type: {
    peopleGroups: "People and groups",
    achievement_leaderboard: "Achievements with leaderboard",
    leaderboard_achievement: "Leaderboard with achievements",
    imagev2: "Image with link",
    pubgMatch: "PUBG match",
    question_answer: "Questions and answers",
    quick_pick: "Quick picks",
    multiple_choice: "Multiple choice",
    iframe: "Embedded page",
    social: "Social media",
  },
  recurrence: { once: "Once", month: "Monthly", year: "Yearly" },
};

/** "responsesPerViewer" becomes "Responses per viewer". */
export function labelOf(name: string): string {
  return LABELS[name] ?? inWords(name);
}

function inWords(name: string): string {
  const words = name
    .replaceAll(/([a-z0-9])([A-Z])/g, "$1 $2")
    .replaceAll(/[_.-]+/g, " ")
    .trim()
    .toLowerCase()
    .replaceAll(/\b(id|ids|url|html|seo|sku|cta)\b/g, (word) => (word === "ids" ? "IDs" : word.toUpperCase()));
  return words.charAt(0).toUpperCase() + words.slice(1);
}

/** A choice in words. `owner` names the object that the property is in. */
export function choiceText(value: string, name: string, owner = ""): string {
  return CHOICES[name]?.[value] ?? CHOICES[owner]?.[value] ?? CHOICES["*"]?.[value] ?? inWords(value);
}

/** What a description says about requests and responses, which a form has nothing to do with. */
const ABOUT_REQUESTS = [
  /\s*Default: `[^`]*`/g,
  /;?\s*(?:[a-z]+ )*if (?:empty or )?omitted(?:; only keys and admins can change it)?\.?/gi,
  /;?\s*null (?:for|:) [^.;]*/g,
  /[.;]\s*[Rr]eturned (?:only )?to [^.;]*/g,
];

/** The description without what only a developer needs. */
export function helpOf(name: string, description = ""): string {
  return (
    HELP[name] ??
    ABOUT_REQUESTS.reduce((text, about) => text.replaceAll(about, ""), description)
      .replaceAll("`", "")
      .replace(/^(Milliseconds|UNIX time in seconds|Seconds) since 1970 UTC;?\s*/i, "")
      .trim()
  );
}
