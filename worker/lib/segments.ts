import { z } from "@hono/zod-openapi";
import { hash32 } from "./crypto/hash.ts";

/** Identifies a segment among those of its site's settings. */
export const SegmentSlug = z
  .string()
  .min(1)
  .max(50)
  .regex(/^[a-z0-9]+(-[a-z0-9]+)*$/, "Lower-case letters, digits and single hyphens")
  .openapi({ example: "gold-members" });

/**
 * How a channel's log and its sockets name a segment: short, because sockets store it, without meaning to viewers, and unlike any tag
 * that a broadcast can target.
 */
export function segmentLabel(slug: string): string {
  return `/${hash32(slug).toString(36)}`;
}

/** Whether a text could be the label of a segment. */
export function isSegmentLabel(text: string): boolean {
  return text.startsWith("/");
}
