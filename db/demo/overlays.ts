import type { overlays } from "#db/schema/overlays.ts";
import type { OverlayContents } from "#db/types.ts";
import { CHANNEL_1, SITE_A, SITE_B, stamps } from "./match-day.ts";

// The club's overlays.

export const GOAL_TEMPLATE = "5eed0000000000000000a001";
export const CARD_TEMPLATE = "5eed0000000000000000a002";
export const SCORE_TEMPLATE = "5eed0000000000000000a004";
export const RIVAL_TEMPLATE = "5eed0000000000000000a101";

export function demoOverlays(): (typeof overlays.$inferInsert)[] {
  const goal: OverlayContents = [
    {
      kind: "html",
      position: "bottomCenter",
      html: '<div style="font:600 20px/1.4 system-ui;padding:14px 22px;border-radius:14px;color:#fff;background:linear-gradient(135deg,#6E5FFB,#3B2FB8);box-shadow:0 8px 30px rgb(0 0 0/.35)">Goal! {{scorer}} <span style="opacity:.8">{{minute}}′</span></div>',
      variables: { scorer: "Harbour City", minute: 90 },
    },
  ];
  const card: OverlayContents = [
    {
      kind: "html",
      position: "topRight",
      html: '<div style="font:600 16px system-ui;padding:10px 16px;border-radius:10px;background:#FACC15;color:#1C1917">Yellow card: {{player}}</div>',
      variables: { player: "Number 6" },
    },
  ];
  const sponsor: OverlayContents = [
    {
      kind: "html",
      position: "topLeft",
      html: '<div style="font:500 14px system-ui;padding:8px 14px;border-radius:8px;background:#fff;color:#1C1917">Ball by {{sponsor}}</div>',
      variables: { sponsor: "Quayside Outfitters" },
      channels: [CHANNEL_1],
    },
  ];
  const score: OverlayContents = [
    {
      kind: "html",
      position: "topCenter",
      html: '<div style="font:600 16px system-ui;padding:8px 18px;border-radius:99px;color:#fff;background:rgb(15 23 42/.88)"><span style="opacity:.75">{{moment}}</span>&ensp;Harbour City {{home}}–{{away}} Old Dock</div>',
      variables: { moment: "Score", home: 0, away: 0 },
    },
  ];
  return [
    {
      ...stamps,
      id: GOAL_TEMPLATE,
      siteId: SITE_A,
      name: "Goal",
      description: "Home side scores",
      type: "template",
      duration: 8,
      contents: goal,
      cta: { type: "open_link", data: { url: "https://demo.example/replay", label: "Watch it again" } },
    },
    {
      ...stamps,
      id: CARD_TEMPLATE,
      siteId: SITE_A,
      name: "Yellow card",
      description: "A booking",
      type: "template",
      duration: 6,
      contents: card,
    },
    {
      ...stamps,
      id: "5eed0000000000000000a003",
      siteId: SITE_A,
      name: "Match ball",
      description: "Sponsor of the ball, on the main stage",
      type: "instance",
      duration: 10,
      contents: sponsor,
    },
    {
      ...stamps,
      id: SCORE_TEMPLATE,
      siteId: SITE_A,
      name: "Score",
      description: "The score, at the whistle or after a goal against us",
      type: "template",
      duration: 8,
      contents: score,
    },
    {
      ...stamps,
      id: RIVAL_TEMPLATE,
      siteId: SITE_B,
      name: "Rival goal",
      description: "Old Dock scores",
      type: "template",
      duration: 8,
      contents: goal,
    },
  ];
}
