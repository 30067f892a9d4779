import { z } from "@hono/zod-openapi";
import { PLAYBACK_PROVIDERS } from "#db/enums.ts";
import type { PlaybackSettings as Settings } from "#db/types.ts";

/** How the URL of a video or stream is signed, on the wire and in its row. Without a name in the document: described, it would be another schema. */
export const PlaybackSettings = z
  .strictObject({
    provider: z.enum(PLAYBACK_PROVIDERS).describe("Whose signature the player's URL needs; `hmac` is a CDN of your own"),
    id: z
      .string()
      .regex(/^[A-Za-z0-9_-]{1,200}$/, "Letters, digits, hyphens and underscores")
      .optional()
      .describe("Mux's playback id or Cloudflare Stream's video UID, which the URL contains; required for both, not used for `hmac`"),
  })
  .refine(({ provider, id }) => (provider === "hmac") === (id === undefined), {
    path: ["id"],
    message: "Required for mux and cloudflare-stream alone",
  })
  .openapi({ example: { provider: "hmac" } });

/** What is wrong with the URL of a video with these settings; undefined if nothing is. */
export function playbackUrlProblem({ id }: Settings, url: string): string | undefined {
  if (id === undefined) return undefined;
  // Mux has the id with an extension, Cloudflare Stream without one.
  const named = new URL(url).pathname.split("/").some((segment) => segment === id || segment.startsWith(`${id}.`));
  return named ? undefined : "The path of `url` must contain `playback.id`";
}
