import { z } from "@hono/zod-openapi";
import { COLLECTION_TYPES, QUESTION_SORTS } from "#db/enums.ts";
import { Id, ImageUrl, LinkUrl, Time } from "./common.ts";
import { SegmentSlug } from "#worker/lib/segments.ts";
import { donationFields, donationIssues } from "./donation-fields.ts";
import { shopFields } from "./shop-fields.ts";
import { iframeSource, iframeTag } from "#worker/lib/iframe.ts";

// What a panel shows, by panel_type. Each type accepts only the fields that it uses.

const Label = z.string().max(200);
const Text = z.string().max(2000);
const Key = z.string().min(1).max(100);

const ArrayId = z
  .string()
  .regex(/^[A-Za-z0-9]{9}$/, "Nine letters or digits")
  .describe("Identifies this item within its list")
  .openapi({ example: "a1B2c3D4e" });

/** A list of items with unique array ids. */
function itemsOf<T extends z.ZodType<{ array_id: string }>>(item: T) {
  return z
    .array(item)
    .max(200)
    .refine((items) => new Set(items.map(({ array_id }) => array_id)).size === items.length, "array_id values must be unique")
    .default([]);
}

const everyType = {
  panel_name: z.string().trim().min(1).max(200).openapi({ example: "Match chat" }),
  icon_name: Key.optional().describe("The icon of the panel's tab"),
  id: Key.optional().describe("The panel's id in your own system"),
  description: Text.optional(),
  image_url: ImageUrl.optional(),
  help_link_url: LinkUrl.optional(),
  login_button_text: Label.optional().describe("Label of the button for viewers who aren't signed in"),
  segment: SegmentSlug.optional().describe(
    "Only viewers in this segment of the site can read the panel; everyone can if omitted. Viewers don't receive this field",
  ),
  disable_on_mobile_embedded: z.boolean().default(false).describe("Hides the panel in channels embedded on a phone"),
};

const rules = { rules_link_url: LinkUrl.optional() };
const darkTheme = { enable_dark_theme: z.boolean().default(false) };
const pollQuestions = { ...rules, questions: itemsOf(z.strictObject({ array_id: ArrayId, poll_id: Id })) };
const questList = {
  ...rules,
  quests: itemsOf(z.strictObject({ array_id: ArrayId, quest_id: Id })),
  show_completed_count: z.boolean().default(false).describe("Shows how many viewers have completed each quest"),
};
const ranksAndQuests = {
  ...questList,
  leaderboard_id: Id.optional().describe("The leaderboard whose ranks the panel shows beside the quests"),
};
const image = { image_url: ImageUrl, url: LinkUrl.optional().describe("The target of a click on the image") };

const FilteredWords = z
  .string()
  .max(10_000)
  .transform((words) => words.trim().replace(/\s+/g, " "))
  .describe("Separated by spaces; replaced by asterisks before a message is translated")
  .openapi({ type: "string", example: "offside ref" });

const IFRAME_TAG_LENGTH = 5000;

const IframeTag = z
  .string()
  .max(IFRAME_TAG_LENGTH)
  .transform((html, issues) => {
    const src = iframeSource(html);
    const tag = src === undefined ? "" : iframeTag(src);
    // A response must be accepted as input again.
    if (tag !== "" && tag.length <= IFRAME_TAG_LENGTH) return tag;
    issues.addIssue({ code: "custom", message: tag === "" ? "Must contain an iframe with an https src" : "The src is too long" });
    return z.NEVER;
  })
  .describe("HTML with an iframe. Only its https src is stored; the response has it in a safe tag")
  .openapi({ type: "string", example: '<iframe src="https://demo.example/stats"></iframe>' });

const ManualEvent = z
  .strictObject({
    array_id: ArrayId,
    name: z.string().trim().min(1).max(200),
    start_time: Time.optional(),
    end_time: Time,
    location: Label.optional(),
    more_info: Text.optional(),
    references: z
      .array(z.strictObject({ collection: z.enum(COLLECTION_TYPES), id: Id }))
      .max(50)
      .default([])
      .describe("What the event is about"),
  })
  .refine(({ start_time, end_time }) => start_time === undefined || start_time < end_time, {
    path: ["end_time"],
    message: "Must be after start_time",
  });

const ScheduleRenderer = z.discriminatedUnion("schedule_type", [
  z.strictObject({
    schedule_type: z.literal("calendar"),
    source_channels: z.array(Id).max(200).default([]).describe("Channels whose calendar events are listed; empty: all channels"),
  }),
  z.strictObject({ schedule_type: z.literal("manual"), manual_events: itemsOf(ManualEvent) }),
]);

const SocialSource = z
  .string()
  .max(2000)
  .regex(/^(https:\/\/\S+|[@#]?[\w.-]+)$/, "An https URL, a handle or a hashtag")
  .openapi({ example: "@harbourcity" });

const links = { link_text: Label, link_url: LinkUrl, link_icon_name: Key.optional() };

export const Person = z
  .strictObject({
    id: Key,
    person_name: z.string().trim().min(1).max(200),
    person_title: Label.optional(),
    person_bio: Text.optional(),
    person_image_url: ImageUrl.optional(),
    person_links: z.array(z.strictObject(links)).max(20).default([]),
  })
  .openapi("Person");

export const Group = z
  .strictObject({
    id: Key,
    group_name: z.string().trim().min(1).max(200),
    group_bio: Text.optional(),
    group_banner_url: ImageUrl.optional(),
    group_links: z
      .array(z.strictObject({ generated_key: Key, ...links }))
      .max(20)
      .default([]),
  })
  .openapi("Group");

const Behavior = z
  .strictObject({
    view: z.enum(["list", "grid"]).default("list"),
    kind: z
      .enum(["automatic", "manual"])
      .default("automatic")
      .describe("`automatic`: every channel; `manual`: the pages listed, in that order"),
    pages: z.array(Id).max(200).default([]),
  })
  .refine(({ kind, pages }) => kind === "automatic" || pages.length > 0, { path: ["pages"], message: "Required when kind is manual" });

function renderer<const T extends string, F extends z.ZodRawShape>(type: T, fields: F) {
  const name = type.replace(/(?:^|_)(\w)/g, (_, initial: string) => initial.toUpperCase());
  return z.strictObject({ panel_type: z.literal(type), ...everyType, ...fields }).openapi(`${name}Renderer`);
}

const DonationsRenderer = z
  .strictObject({ panel_type: z.literal("donations"), ...everyType, ...donationFields })
  .superRefine((donations, context) => {
    for (const issue of donationIssues(donations)) context.addIssue({ code: "custom", ...issue });
  })
  .openapi("DonationsRenderer");

export const PanelRenderer = z
  .discriminatedUnion("panel_type", [
    renderer("chat", {
      ...rules,
      allow_non_admin_links: z.boolean().default(false).describe("Whether links from viewers who aren't admins are shown"),
      filtered_words: FilteredWords.default(""),
      system_name: Label.optional().describe("The sender name of the site's own messages"),
      system_image: ImageUrl.optional(),
      system_welcome_message: Text.optional(),
    }),
    renderer("twitch_chat", {
      ...darkTheme,
      channel: z
        .string()
        .regex(/^\w{3,25}$/, "A Twitch channel: 3 to 25 letters, digits or underscores")
        .openapi({ example: "harbourcity" }),
    }),
    renderer("iframe", { ...darkTheme, iframe_tag: IframeTag }),
    renderer("schedule", { group_by_date: z.boolean().default(false), schedule_type_renderer: ScheduleRenderer }),
    renderer("quests", questList),
    renderer("social", { ...darkTheme, sources: itemsOf(z.strictObject({ array_id: ArrayId, source: SocialSource })) }),
    renderer("channel_select", { behavior: Behavior.prefault({}) }),
    renderer("peopleGroups", { people: z.array(Person).max(200).default([]), groups: z.array(Group).max(200).default([]) }),
    renderer("leaderboard_achievement", ranksAndQuests),
    renderer("achievement_leaderboard", ranksAndQuests),
    renderer("playlist", { playlist_id: Id }),
    renderer("shopify", shopFields),
    renderer("image", image),
    renderer("imagev2", image),
    DonationsRenderer,
    renderer("quick_pick", pollQuestions),
    renderer("pubgMatch", { ...rules, url: LinkUrl.optional().describe("The match's page") }),
    renderer("multiple_choice", pollQuestions),
    renderer("question_answer", {
      ...rules,
      prompt: Label.optional().describe("The placeholder of the field for a question").openapi({ example: "Ask the coach" }),
      sort_by: z.enum(QUESTION_SORTS).default("upvotes").describe("The order that the panel starts with"),
      show_answered: z.boolean().default(true).describe("Whether the panel has a view with the answered questions"),
    }),
  ])
  .openapi("PanelRenderer");

export type PanelRenderer = z.output<typeof PanelRenderer>;
