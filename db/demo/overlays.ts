import type { overlays } from "#db/schema/overlays.ts";
import type { OverlayContent, OverlayContents } from "#db/types.ts";
import { snapshotOf } from "#worker/services/graphics/snapshots.ts";
import { Manifest } from "#worker/services/graphics/manifest.ts";
import { POSSESSION_GRAPHIC } from "./graphics.ts";
import { TEAM_SHEETS } from "./line-up.ts";
import { CHANNEL_1, SITE_A, SITE_B, stamps } from "./match-day.ts";
import { AWAY_CREST, CREST_A } from "./media.ts";
import { POSSESSION_MANIFEST } from "./possession-graphic.ts";

// The club's overlays.

export const GOAL_TEMPLATE = "5eed0000000000000000a001";
export const CARD_TEMPLATE = "5eed0000000000000000a002";
export const MATCH_BALL = "5eed0000000000000000a003";
export const SCORE_TEMPLATE = "5eed0000000000000000a004";
export const SUBSTITUTION_TEMPLATE = "5eed0000000000000000a005";
export const HOME_LINE_UP = "5eed0000000000000000a006";
export const AWAY_LINE_UP = "5eed0000000000000000a007";
export const FINAL_RESULT = "5eed0000000000000000a008";
export const POLL_TEMPLATE = "5eed0000000000000000a009";
export const FAN_MESSAGE = "5eed0000000000000000a00a";
export const GUEST_TEMPLATE = "5eed0000000000000000a00b";
export const NEWS_TEMPLATE = "5eed0000000000000000a00c";
export const CORNER_TEMPLATE = "5eed0000000000000000a00d";
export const POSSESSION_TEMPLATE = "5eed0000000000000000a00e";
export const RIVAL_TEMPLATE = "5eed0000000000000000a101";

type OverlayInsert = typeof overlays.$inferInsert;
type KitElement = Extract<OverlayContent, { kind: "kit" }>;

export const TEAMS = {
  home: { name: "Harbour City", color: "#4b3fd1", crest: `/media/v1/${CREST_A}` },
  away: { name: "Old Dock", color: "#c2410c", crest: `/media/v1/${AWAY_CREST}` },
};

const MATCH = {
  ...{ homeName: TEAMS.home.name, homeColor: TEAMS.home.color, homeCrest: TEAMS.home.crest },
  ...{ awayName: TEAMS.away.name, awayColor: TEAMS.away.color, awayCrest: TEAMS.away.crest },
  ...{ homeScore: "{{home}}", awayScore: "{{away}}" },
};

/** The team that an overlay is about: Harbour City, unless the broadcast says otherwise. */
const TEAM = {
  ...{ teamName: "{{team}}", teamColor: "{{color}}", teamCrest: "{{crest}}" },
  ...{ team: TEAMS.home.name, color: TEAMS.home.color, crest: TEAMS.home.crest },
};

/** The score stays on the screen for the whole match: each broadcast updates it in place. */
const SCORE_SECONDS = 600;

export function demoOverlays(): OverlayInsert[] {
  return [
    {
      ...overlay(GOAL_TEMPLATE, "Goal", "Somebody scores", 8, [
        kit("goal", "bottomCenter", { playerName: "{{scorer}}", moment: "{{minute}}", scorer: "Harbour City", minute: 90, ...TEAM }),
      ]),
      cta: { type: "open_link", data: { url: "https://demo.example/replay", label: "Watch it again" } },
    },
    overlay(CARD_TEMPLATE, "Yellow card", "A booking", 6, [
      kit("card", "bottomLeft", {
        ...{ card: "yellow", playerName: "{{player}}", shirtNumber: "{{number}}", moment: "{{minute}}" },
        ...{ player: "Number 6", number: "", minute: "", ...TEAM },
      }),
    ]),
    {
      ...overlay(MATCH_BALL, "Match ball", "Sponsor of the ball, on the main stage", 10, [
        {
          ...kit("sponsor", "topRight", { name: "{{sponsor}}", label: "Match ball by", sponsor: "Quayside Outfitters" }),
          channels: [CHANNEL_1],
        },
      ]),
      type: "instance",
    },
    overlay(SCORE_TEMPLATE, "Score", "The score and the clock, for the whole match", SCORE_SECONDS, [
      {
        ...kit("scorebug", "topLeft", {
          ...MATCH,
          ...{ period: "{{moment}}", clockSeconds: "{{clock}}", clockSpeed: "{{speed}}", clockRunning: "{{running}}" },
          ...{ home: 0, away: 0, moment: "", clock: "", speed: "", running: "" },
        }),
        key: "derby",
      },
    ]),
    overlay(SUBSTITUTION_TEMPLATE, "Substitution", "Who comes on and who goes off", 7, [
      kit("substitution", "bottomLeft", {
        ...{ inName: "{{on}}", inNumber: "{{onNumber}}", outName: "{{off}}", outNumber: "{{offNumber}}", moment: "{{minute}}" },
        ...{ onNumber: "", offNumber: "", minute: "", ...TEAM },
      }),
    ]),
    overlay(HOME_LINE_UP, "Line-up, home", "The starting eleven of Harbour City", 6, [lineUp("home", "4-3-3", "Mira Castellanos")]),
    overlay(AWAY_LINE_UP, "Line-up, away", "The starting eleven of Old Dock", 6, [lineUp("away", "4-4-2", "Tor Hallberg")]),
    overlay(FINAL_RESULT, "Final result", "The result with its scorers", 14, [
      kit("final-result", "center", {
        ...MATCH,
        ...{ headline: "Full time", competition: "Harbour derby", homeDetail: "{{homeScorers}}", awayDetail: "{{awayScorers}}" },
        ...{ homeScorers: "", awayScorers: "" },
      }),
    ]),
    overlay(POLL_TEMPLATE, "Poll", "A poll with live bars, answered on the screen", 15, [
      kit("poll", "centerRight", { pollId: "{{poll}}", headline: "Match predictor" }),
    ]),
    overlay(FAN_MESSAGE, "Fan of the minute", "A message from the chat", 7, [
      kit("chat-message", "bottomRight", { name: "{{fan}}", text: "{{message}}", badge: "Supporter" }),
    ]),
    overlay(GUEST_TEMPLATE, "Name", "Who is on the screen", 7, [
      kit("lower-third", "bottomLeft", { name: "{{person}}", role: "{{about}}", label: "{{where}}", about: "", where: "" }),
    ]),
    overlay(NEWS_TEMPLATE, "News", "A headline across the screen", 9, [
      kit("breaking-news", "bottomCenter", { headline: "{{news}}", detail: "{{more}}", label: "{{about}}", more: "", about: "News" }),
    ]),
    overlay(CORNER_TEMPLATE, "Corner", "HTML of your own, in a sandbox", 6, corner()),
    overlay(POSSESSION_TEMPLATE, "Possession", "Who has had the ball: an OGraf graphic", 12, possession()),
    { ...overlay(RIVAL_TEMPLATE, "Rival goal", "Old Dock scores", 8, rivalGoal()), siteId: SITE_B },
  ];
}

function overlay(id: string, name: string, description: string, duration: number, contents: OverlayContents): OverlayInsert {
  return { ...stamps, id, siteId: SITE_A, name, description, type: "template", duration, contents };
}

function kit(template: KitElement["template"], position: KitElement["position"], variables: KitElement["variables"]): KitElement {
  return { kind: "kit", template, position, variables };
}

function lineUp(side: "home" | "away", formation: string, coach: string): KitElement {
  const { name, color, crest } = TEAMS[side];
  const players = TEAM_SHEETS[side].map(({ shirt, name: player }) => `${shirt} ${player}`).join("\n");
  return {
    ...kit("line-up", "centerLeft", { teamName: name, teamColor: color, teamCrest: crest, formation, coach, players }),
    key: `line-up ${side}`,
  };
}

function corner(): OverlayContents {
  const style = "font:600 16px system-ui;padding:8px 18px;border-radius:99px;color:#fff;background:rgb(15 23 42/.88)";
  return [
    { kind: "html", position: "topCenter", html: `<div style="${style}">Corner for {{team}}</div>`, variables: { team: "Harbour City" } },
  ];
}

function possession(): OverlayContents {
  const snapshot = snapshotOf(Manifest.parse(POSSESSION_MANIFEST));
  const variables = { homeColor: TEAMS.home.color, awayColor: TEAMS.away.color };
  return [{ kind: "ograf", graphic: POSSESSION_GRAPHIC, position: "bottomRight", variables, snapshot }];
}

function rivalGoal(): OverlayContents {
  const style = "font:600 20px/1.4 system-ui;padding:14px 22px;border-radius:14px;color:#fff;background:#c2410c";
  const html = `<div style="${style}">Goal! {{scorer}} <span style="opacity:.8">{{minute}}′</span></div>`;
  return [{ kind: "html", position: "bottomCenter", html, variables: { scorer: "Old Dock", minute: 90 } }];
}
