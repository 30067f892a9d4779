import { z } from "@hono/zod-openapi";
import { Id, Time } from "#worker/lib/schemas/common.ts";
import { Image, look, match, Moment, Score, ShirtNumber, team, text } from "./fields.ts";

// The variables of the kit's templates. The Worker validates and serves them, and the SDK's types are generated from them.

const players = (description: string) =>
  z
    .string()
    .min(1)
    .max(2000)
    .refine((lines) => lines.split("\n").length <= 15, "At most 15 lines")
    .describe(`${description}: one per line, the shirt number first, such as \`9 Ada Moreno\``);

export const Scorebug = z.strictObject({
  ...match,
  period: text(20, "Part of the match, such as `1st half`").optional(),
  clockSeconds: z.number().int().min(0).max(359_999).optional().describe("Seconds on the match clock at `clockAt`; no clock if omitted"),
  clockAt: Time.optional().describe("When the clock showed `clockSeconds`, in milliseconds since 1970 UTC; default: when it is shown"),
  clockRunning: z.boolean().optional().describe("Whether the clock runs (default) or stands at `clockSeconds`"),
  clockSpeed: z
    .number()
    .min(0.1)
    .max(100)
    .optional()
    .describe("Seconds that pass on the clock in one second: 1 unless the match is replayed faster"),
  clockDirection: z.enum(["up", "down"]).optional().describe("`down` stops at zero"),
  addedTime: text(10, "Added time, such as `+4`").optional(),
  ...look,
});

export const Goal = z.strictObject({
  headline: text(40, "Default: `Goal`").optional(),
  playerName: text(80, "Who scored"),
  shirtNumber: ShirtNumber.optional(),
  moment: Moment.optional(),
  detail: text(120, "A second line, such as the assist").optional(),
  image: Image.optional().describe("A portrait of the player"),
  ...team,
  homeName: match.homeName.optional(),
  awayName: match.awayName.optional(),
  homeScore: Score.optional(),
  awayScore: Score.optional(),
  ...look,
});

export const Card = z.strictObject({
  card: z.enum(["yellow", "secondYellow", "red", "green", "blue", "white"]),
  headline: text(40, "Default: the name of the card").optional(),
  playerName: text(80, "Who received it"),
  shirtNumber: ShirtNumber.optional(),
  moment: Moment.optional(),
  detail: text(120, "A second line, such as the reason").optional(),
  ...team,
  ...look,
});

export const Substitution = z.strictObject({
  headline: text(40, "Default: `Substitution`").optional(),
  inName: text(80, "Who comes on"),
  inNumber: ShirtNumber.optional(),
  outName: text(80, "Who goes off"),
  outNumber: ShirtNumber.optional(),
  moment: Moment.optional(),
  ...team,
  ...look,
});

export const LineUp = z.strictObject({
  headline: text(40, "Default: `Line-up`").optional(),
  teamName: text(60, "Name of the team"),
  teamColor: team.teamColor,
  teamCrest: team.teamCrest,
  formation: text(20, "Such as `4-3-3`").optional(),
  coach: text(80, "Name of the coach").optional(),
  players: players("The players"),
  ...look,
});

export const LowerThird = z.strictObject({
  name: text(100, "Who or what is shown"),
  role: text(140, "The second line").optional(),
  label: text(40, "A short label above the name").optional(),
  image: Image.optional().describe("A portrait or a logo"),
  ...look,
});

export const PollTemplate = z.strictObject({
  pollId: Id.describe("A poll of the site; viewers answer it on the overlay and see its bars move"),
  headline: text(40, "Default: the kind of poll").optional(),
  ...look,
});

export const Countdown = z.strictObject({
  endsAt: Time.describe("When it reaches zero, in milliseconds since 1970 UTC"),
  headline: text(80, "What it counts down to"),
  detail: text(120, "A second line").optional(),
  doneText: text(40, "Replaces the time at zero").optional(),
  ...look,
});

export const QuestionTemplate = z.strictObject({
  text: text(1000, "The question"),
  name: text(80, "Who asks").optional(),
  headline: text(40, "Default: `Question`").optional(),
  votes: z.number().int().min(0).optional().describe("How many viewers want it answered"),
  ...look,
});

export const ChatMessageTemplate = z.strictObject({
  text: text(1000, "The message"),
  name: text(80, "Who wrote it"),
  image: Image.optional().describe("The author's picture"),
  badge: text(30, "A short label next to the name").optional(),
  ...look,
});

export const Sponsor = z.strictObject({
  name: text(80, "Name of the sponsor"),
  label: text(60, "Above the name, such as `Presented by`").optional(),
  detail: text(120, "A second line").optional(),
  image: Image.optional().describe("The sponsor's logo; it is shown on white"),
  ...look,
});

export const BreakingNews = z.strictObject({
  headline: text(160, "The news"),
  detail: text(240, "A second line").optional(),
  label: text(30, "Default: `Breaking`").optional(),
  ...look,
});

export const FinalResult = z.strictObject({
  ...match,
  headline: text(40, "Default: `Final result`").optional(),
  competition: text(80, "Name of the competition").optional(),
  homeDetail: text(500, "Below the first side, one line each, such as its scorers").optional(),
  awayDetail: text(500, "Below the second side, one line each").optional(),
  ...look,
});
