import { z } from "@hono/zod-openapi";
import { PLAYBACK_PROVIDERS } from "#db/enums.ts";
import type { PlaybackSettings as Settings } from "#db/types.ts";

/** How the URL of a video or stream is signed, on the wire and in its row. Unnamed in the OpenAPI document, so that each use can have its own description. */
export const PlaybackSettings = z
  .strictObject({
    provider: z.enum(PLAYBACK_PROVIDERS).describe("The provider whose signature the playback URL needs; `hmac` is for your own CDN"),
    id: z
      .string()
      .regex(/^[A-Za-z0-9_-]{1,200}$/, "Letters, digits, hyphens and underscores")
      .optional()
      .describe("Mux's playback id or Cloudflare Stream's video UID, which the URL contains; required for both, not used for `hmac`"),
  })
  .refine(({ provider, id }) => (provider === "hmac") === (id === undefined), {
    path: ["id"],
    message: "Required for mux and cloudflare-stream, not allowed for hmac",
  })
  .openapi({ example: { provider: "hmac" } });

/** Why a video's URL doesn't match these settings; undefined if it does. */
export function playbackUrlProblem({ id }: Settings, url: string): string | undefined {
  if (id === undefined) return undefined;
  // Mux URLs have the id with an extension, those of Cloudflare Stream without one.
  const containsId = new URL(url).pathname.split("/").some((segment) => segment === id || segment.startsWith(`${id}.`));
  return containsId ? undefined : "The path of `url` must contain `playback.id`";
}
