import { z } from "@hono/zod-openapi";
import { ImageUrl } from "#worker/lib/schemas/common.ts";

// Variables that several templates of the kit share. Every value is a string, a number or a boolean, so that rules can map facts to them.

/** One line or a few words; the template shrinks, wraps and finally shortens what doesn't fit. */
export const text = (maximum: number, description: string) => z.string().min(1).max(maximum).describe(description);

export const Color = z
  .string()
  .regex(/^#([0-9a-fA-F]{3}|[0-9a-fA-F]{6})$/, "A hex colour such as #0b5fff")
  .describe("A hex colour such as `#0b5fff`; the text on it becomes black or white, whichever is readable");

export const Score = z
  .union([z.number().int().min(0).max(99_999), z.string().min(1).max(12)])
  .describe("Points as a number, or text for sports that count otherwise, such as `128/4`");

/** When something happened in the match. */
export const Moment = z
  .union([z.number().int().min(0).max(9999), z.string().min(1).max(20)])
  .describe("When it happened: minutes as a number, or text such as `45+2` or `Q3 4:12`");

export const ShirtNumber = z.union([z.number().int().min(0).max(999), z.string().min(1).max(4)]).describe("Shirt number");

export const Image = ImageUrl.describe("An https URL, or the `/media/v1/{id}` of an uploaded file");

/** Variables of every template. */
export const look = {
  accentColor: Color.optional().describe("Replaces the accent colour of the page's theme"),
  look: z.enum(["auto", "light", "dark"]).optional().describe("`auto` (default) follows the viewer's mode"),
};

/** A team with its colour and crest, for templates about one team. */
export const team = {
  teamName: text(60, "Name of the team").optional(),
  teamColor: Color.optional(),
  teamCrest: Image.optional(),
};

/** The two sides of a match with their score. */
export const match = {
  homeName: text(60, "The first side"),
  awayName: text(60, "The second side"),
  homeScore: Score,
  awayScore: Score,
  homeColor: Color.optional(),
  awayColor: Color.optional(),
  homeCrest: Image.optional(),
  awayCrest: Image.optional(),
};
