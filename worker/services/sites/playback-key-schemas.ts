import { z } from "@hono/zod-openapi";
import { PLAYBACK_PROVIDERS } from "#db/enums.ts";
import type { PlaybackKeyRow } from "#db/schema/streams/playback-keys.ts";
import { Id, Tracked } from "#worker/lib/schemas/common.ts";

const fields = {
  provider: z.enum(PLAYBACK_PROVIDERS),
  keyId: z
    .string()
    .regex(/^[A-Za-z0-9_-]{1,200}$/, "Letters, digits, hyphens and underscores")
    .describe("The provider's id of the key; for `hmac`, a name of your choice")
    .openapi({ example: "cdn-2026" }),
  lifetimeSeconds: z
    .number()
    .int()
    .min(60)
    .max(43_200)
    .describe("How long a URL is valid, in addition to the video's duration; a preview or a schedule may end it earlier"),
};

export const PlaybackKeyInput = z
  .strictObject({
    ...fields,
    lifetimeSeconds: fields.lifetimeSeconds.default(3600),
    key: z
      .string()
      .min(1)
      .max(10_000)
      .describe(
        "`mux` and `cloudflare-stream`: the RSA private key, as PEM or JWK, plain or in base64. `hmac`: a secret of at least 32 characters. Stored encrypted and never shown",
      ),
  })
  .openapi("PlaybackKeyInput", { example: { provider: "hmac", keyId: "cdn-2026", key: "replace-with-a-long-random-secret" } });

export const PlaybackKey = z.object({ _id: Id, siteId: Id, ...fields, ...Tracked }).openapi("PlaybackKey");

export type PlaybackKeyInput = z.output<typeof PlaybackKeyInput>;

/** Without the key itself. */
export function toPlaybackKey(row: PlaybackKeyRow) {
  return {
    _id: row.id,
    siteId: row.siteId,
    provider: row.provider,
    keyId: row.keyId,
    lifetimeSeconds: row.lifetimeSeconds,
    created: row.created,
    modified: row.modified,
  } satisfies z.output<typeof PlaybackKey>;
}
