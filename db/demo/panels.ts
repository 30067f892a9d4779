import { PanelRenderer } from "#worker/lib/schemas/panel-renderer.ts";
import type { panels } from "#db/schema/panels.ts";
import { CHANNEL_1, CHANNEL_2, HOUR, KICK_OFF, SITE_A, SITE_B, stamps } from "./match-day.ts";
import { SEASON_BOARD } from "./leaderboards.ts";
import { CREST_A } from "./media.ts";
import { DERBY_RESULT, NEXT_GOAL, SPRING_SCORER } from "./polls.ts";
import { FIRST_HALF, PROPHET, TUNNEL } from "./quests.ts";

export const MATCH_PREDICTOR = "5eed0000000000000000d007";
export const DONATIONS_PANEL = "5eed0000000000000000d010";
export const QUESTS_PANEL = "5eed0000000000000000d008";

type PanelInsert = typeof panels.$inferInsert;

/** The ids of the main stage's panels, in order. */
export const PANELS_A = ["01", "02", "04", "05", "07", "08", "09", "e1"].map((number) => `5eed0000000000000000d0${number}`);

/** The sidebar's panels on match day. */
export function demoPanels(): PanelInsert[] {
  return [
    panel("5eed0000000000000000d001", SITE_A, "match-chat", {
      panel_type: "chat",
      panel_name: "Match chat",
      icon_name: "chat",
      filtered_words: "offside ref",
      system_name: "Stadium announcer",
      system_image: `/media/v1/${CREST_A}`,
      system_welcome_message: "Welcome to Harbour City Park. Keep it friendly.",
      rules_link_url: "https://demo.example/chat-rules",
    }),
    panel("5eed0000000000000000d002", SITE_A, "fixtures", {
      panel_type: "schedule",
      panel_name: "Fixtures",
      icon_name: "calendar",
      group_by_date: true,
      schedule_type_renderer: { schedule_type: "calendar", source_channels: [CHANNEL_1] },
    }),
    panel("5eed0000000000000000d003", SITE_A, "order-of-the-day", {
      panel_type: "schedule",
      panel_name: "Today's schedule",
      icon_name: "clock",
      schedule_type_renderer: {
        schedule_type: "manual",
        manual_events: [
          { array_id: "gatesOpn1", name: "Gates open", start_time: KICK_OFF - 2 * HOUR, end_time: KICK_OFF, location: "Quayside stand" },
          { array_id: "kickOff01", name: "Harbour City v Old Dock", start_time: KICK_OFF, end_time: KICK_OFF + 2 * HOUR },
        ],
      },
    }),
    panel("5eed0000000000000000d004", SITE_A, "cameras", {
      panel_type: "channel_select",
      panel_name: "Cameras",
      icon_name: "grid",
      behavior: { view: "grid", kind: "manual", pages: [CHANNEL_1, CHANNEL_2] },
    }),
    panel("5eed0000000000000000d005", SITE_A, "line-up", {
      panel_type: "peopleGroups",
      panel_name: "Line-up",
      icon_name: "users",
      people: [
        { id: "moreno", person_name: "Ada Moreno", person_title: "Forward", person_bio: "Eleven goals this season." },
        { id: "okafor", person_name: "Ruth Okafor", person_title: "Keeper", person_bio: "Captain since 2024." },
      ],
      groups: [{ id: "first-team", group_name: "First team", group_bio: "Harbour City FC, founded on the quay in 1903." }],
    }),
    panel("5eed0000000000000000d006", SITE_A, "live-stats", {
      panel_type: "iframe",
      panel_name: "Live stats",
      icon_name: "chart",
      iframe_tag: '<iframe src="https://demo.example/stats"></iframe>',
    }),
    panel(MATCH_PREDICTOR, SITE_A, "match-predictor", {
      panel_type: "quick_pick",
      panel_name: "Match predictor",
      icon_name: "target",
      questions: [
        { array_id: "derbyRes1", poll_id: DERBY_RESULT },
        { array_id: "springSc1", poll_id: SPRING_SCORER },
        { array_id: "nextGoal1", poll_id: NEXT_GOAL },
      ],
    }),
    panel(QUESTS_PANEL, SITE_A, "derby-quests", {
      panel_type: "leaderboard_achievement",
      panel_name: "Derby quests",
      icon_name: "trophy",
      quests: [
        { array_id: "firstHal1", quest_id: FIRST_HALF },
        { array_id: "prophetD1", quest_id: PROPHET },
        { array_id: "downTunn1", quest_id: TUNNEL },
      ],
      show_completed_count: true,
      leaderboard_id: SEASON_BOARD,
    }),
    panel("5eed0000000000000000d009", SITE_A, "ask-the-bench", {
      panel_type: "question_answer",
      panel_name: "Ask the bench",
      icon_name: "question",
      prompt: "Ask the coaches",
    }),
    panel("5eed0000000000000000d0e1", SITE_A, "gold-lounge", {
      panel_type: "image",
      panel_name: "Gold lounge",
      icon_name: "star",
      image_url: `/media/v1/${CREST_A}`,
      url: "https://demo.example/gold",
      description: "Your seat in the Quayside lounge is open an hour before kick-off.",
      segment: "gold-members",
    }),
    panel(DONATIONS_PANEL, SITE_A, "youth-team", {
      panel_type: "donations",
      panel_name: "Youth team",
      icon_name: "heart",
      description: "Boots, balls and a bus for forty young players.",
      url: "https://demo.example/youth-team",
      currency: "gbp",
      amounts: [500, 1000, 2500],
      minimum_amount: 200,
      maximum_amount: 100_000,
      thank_you_message: "Thank you! The youth team plays on because of you.",
    }),
    panel("5eed0000000000000000d011", SITE_A, "club-shop", {
      panel_type: "shopify",
      panel_name: "Club shop",
      icon_name: "cart",
      url: "https://demo.example/shop",
      collection: "derby",
    }),
    panel("5eed0000000000000000d101", SITE_B, "dock-chat", { panel_type: "chat", panel_name: "Dock chat", icon_name: "chat" }),
  ];
}

function panel(id: string, siteId: string, slug: string, input: object): PanelInsert {
  const renderer = PanelRenderer.parse(input);
  return { ...stamps, id, siteId, slug, panelType: renderer.panel_type, panelName: renderer.panel_name, renderer };
}
