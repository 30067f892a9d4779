import { z } from "@hono/zod-openapi";
import { KIT_TEMPLATES, KIT_VARIABLES, type KitTemplateName } from "#worker/lib/schemas/overlay-kit/kit.ts";
import type { POSITIONS } from "#db/enums.ts";

type Variables<Name extends KitTemplateName> = z.input<(typeof KIT_VARIABLES)[Name]>;

interface Template<Name extends KitTemplateName> {
  title: string;
  description: string;
  /** Where it is shown unless the overlay says otherwise. */
  position: (typeof POSITIONS)[number];
  /** The most it takes of a stage 1280 pixels wide, in pixels. */
  size: { width: number; height: number };
  sample: Variables<Name>;
}

const HOME = { homeName: "Harbour City", homeColor: "#0b5fff" };
const AWAY = { awayName: "Old Dock", awayColor: "#e4002b" };
const TEAM = { teamName: "Harbour City", teamColor: "#0b5fff" };

export const KIT: { [Name in KitTemplateName]: Template<Name> } = {
  scorebug: {
    title: "Scorebug",
    description: "The score with a running clock, for the whole match.",
    position: "topLeft",
    size: { width: 560, height: 120 },
    sample: { ...HOME, ...AWAY, homeScore: 2, awayScore: 1, period: "2nd half", clockSeconds: 4020, addedTime: "+4" },
  },
  goal: {
    title: "Goal",
    description: "Somebody scores: headline, player, team and the new score.",
    position: "bottomCenter",
    size: { width: 860, height: 210 },
    sample: {
      ...{ headline: "Goal", playerName: "Ada Moreno", shirtNumber: 9, moment: 67, detail: "Assist: Noor Haddad" },
      ...TEAM,
      ...{ homeName: "Harbour City", awayName: "Old Dock", homeScore: 2, awayScore: 1 },
    },
  },
  card: {
    title: "Card",
    description: "A booking, with the card that was shown.",
    position: "bottomLeft",
    size: { width: 600, height: 150 },
    sample: { card: "yellow", playerName: "Ines Okafor", shirtNumber: 6, moment: 31, detail: "Late tackle", ...TEAM },
  },
  substitution: {
    title: "Substitution",
    description: "Who comes on and who goes off.",
    position: "bottomLeft",
    size: { width: 600, height: 190 },
    sample: { inName: "Lea Brandt", inNumber: 17, outName: "Ada Moreno", outNumber: 9, moment: 78, ...TEAM },
  },
  "line-up": {
    title: "Line-up",
    description: "A team's players, with formation and coach.",
    position: "centerLeft",
    size: { width: 620, height: 690 },
    sample: {
      ...TEAM,
      formation: "4-3-3",
      coach: "Mira Castellanos",
      players:
        "1 Jo Lindqvist\n2 Tara Bello\n4 Ines Okafor\n5 Sam Whitlock\n3 Yuki Tanaka\n6 Noor Haddad\n8 Priya Raman\n10 Elif Demir\n7 Cleo Martin\n9 Ada Moreno\n11 Zoe Adler",
    },
  },
  "lower-third": {
    title: "Lower third",
    description: "A name and what it stands for.",
    position: "bottomLeft",
    size: { width: 760, height: 180 },
    sample: { name: "Mira Castellanos", role: "Head coach, Harbour City", label: "Live" },
  },
  poll: {
    title: "Poll",
    description: "A poll with live bars, which viewers answer on the overlay.",
    position: "centerRight",
    size: { width: 520, height: 560 },
    sample: { pollId: "5eed00000000000000006001", headline: "Your call" },
  },
  countdown: {
    title: "Countdown",
    description: "The time that is left until something begins or ends.",
    position: "topRight",
    size: { width: 460, height: 190 },
    sample: { endsAt: 1795170000000, headline: "Kick-off", detail: "Harbour City v Old Dock", doneText: "Now" },
  },
  question: {
    title: "Question",
    description: "A viewer's question.",
    position: "bottomCenter",
    size: { width: 820, height: 260 },
    sample: { text: "Will the captain be fit for the final?", name: "Robin", headline: "Question", votes: 128 },
  },
  "chat-message": {
    title: "Chat message",
    description: "A message from the chat.",
    position: "bottomRight",
    size: { width: 600, height: 240 },
    sample: { text: "What a save! She had no right to reach that.", name: "Dockside Dan", badge: "Member" },
  },
  sponsor: {
    title: "Sponsor",
    description: "A sponsor's logo and name.",
    position: "topRight",
    size: { width: 480, height: 150 },
    sample: { name: "Quayside Outfitters", label: "Presented by", detail: "Made for the weather" },
  },
  "breaking-news": {
    title: "Breaking news",
    description: "A headline across the bottom of the screen.",
    position: "bottomCenter",
    size: { width: 1248, height: 170 },
    sample: { headline: "Final moved to Harbour Park", detail: "Tickets stay valid, gates open at 17:00", label: "Breaking" },
  },
  "final-result": {
    title: "Final result",
    description: "The result, with what made it.",
    position: "center",
    size: { width: 900, height: 420 },
    sample: {
      ...HOME,
      ...AWAY,
      homeScore: 2,
      awayScore: 1,
      headline: "Full time",
      competition: "Harbour Cup final",
      homeDetail: "Moreno 12′, 67′",
      awayDetail: "Sato 48′",
    },
  },
};

/** The sample value of a variable; undefined if the sample doesn't have it. */
export function kitSampleOf(template: KitTemplateName, name: string): string | number | boolean | undefined {
  return new Map<string, string | number | boolean>(Object.entries(KIT[template].sample)).get(name);
}

/** How large a pixel of a 1280 pixels wide stage is on other stages: text stays readable on small ones. The style sheet has the same rule. */
function stageUnit(stageWidth: number): number {
  return Math.max(stageWidth / 1280, 0.42 + (0.45 * stageWidth) / 1280);
}

const STAGES = [
  [320, 180],
  [640, 360],
  [1280, 720],
  [1920, 1080],
] as const;
/** The default safe area. */
const EDGE = 16;

/** The most a template takes of each stage, in pixels. */
function sizesOf(name: KitTemplateName) {
  const { width, height } = KIT[name].size;
  return STAGES.map(([stageWidth, stageHeight]) => {
    const unit = stageUnit(stageWidth);
    return {
      stageWidth,
      stageHeight,
      maxWidth: Math.min(Math.ceil(width * unit), stageWidth - 2 * EDGE),
      maxHeight: Math.min(Math.ceil(height * unit), stageHeight - 2 * EDGE),
    };
  });
}

/** The templates as the API lists them. */
export function listKit() {
  return KIT_TEMPLATES.map((name) => {
    const { title, description, position, sample } = KIT[name];
    return { name, title, description, position, variables: variablesSchemaOf(name), sizes: sizesOf(name), sample };
  });
}

function variablesSchemaOf(name: KitTemplateName): Record<string, unknown> {
  const schema = z.toJSONSchema(KIT_VARIABLES[name], { io: "input", override: readable });
  return Object.fromEntries(Object.entries(schema).filter(([key]) => key !== "$schema"));
}

/** Without the bounds of safe integers and the escaped slashes that zod adds. */
function readable({ jsonSchema }: { jsonSchema: { minimum?: number; maximum?: number; pattern?: string } }): void {
  if (jsonSchema.minimum === Number.MIN_SAFE_INTEGER) delete jsonSchema.minimum;
  if (jsonSchema.maximum === Number.MAX_SAFE_INTEGER) delete jsonSchema.maximum;
  if (jsonSchema.pattern !== undefined) jsonSchema.pattern = jsonSchema.pattern.replaceAll("\\/", "/");
}
