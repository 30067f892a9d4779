import { z } from "@hono/zod-openapi";
import { createArea } from "#worker/http/area.ts";
import { ACCOUNT, CLIENT_HEADER_OR_QUERY } from "#worker/http/credentials.ts";
import { callerAddress } from "#worker/http/limits.ts";
import { operation } from "#worker/http/operation.ts";
import { Id } from "#worker/lib/schemas/common.ts";
import { openManifest } from "#worker/services/manifests/manifests.ts";
import { ChannelParam } from "#worker/services/realtime/schemas.ts";

export const manifests = createArea();

const ManifestQuery = z.strictObject({
  clientId: Id.optional().describe("The site, for players that can't set a header"),
  src: z
    .string()
    .min(1)
    .max(4000)
    .describe("The URL of an HLS playlist, multivariant or media, at one of the site's `settings.manifest.hosts`")
    .openapi({ example: "https://live.demo.example/derby/main.m3u8" }),
});

manifests.openapi(
  operation({
    operationId: "openManifest",
    tag: "Realtime",
    method: "get",
    path: "/realtime/v1/channels/{channelId}/manifest",
    summary: "Get a playlist with the broadcasts",
    description:
      "An HLS playlist with the channel's broadcasts as `EXT-X-DATERANGE`, for devices without an SDK; see [Cues in the stream](/guides/cues). The URIs of a multivariant playlist lead here again, so a player only needs this URL. The channel's gate applies: where it requires a sign-in, the player sends `Authorization`. The host must be one that the site allows; redirects aren't followed.",
    access: { credentials: CLIENT_HEADER_OR_QUERY, optional: ACCOUNT, accounts: "any", readsPrimary: true },
    request: { params: ChannelParam, query: ManifestQuery },
    responses: {
      200: { description: "The playlist", content: { "application/vnd.apple.mpegurl": { schema: { type: "string" } } } },
    },
    errors: ["not_found", "unauthenticated", "forbidden", "unavailable"],
  }),
  async (c) => {
    const ctx = c.get("ctx");
    const { channelId } = c.req.valid("param");
    const addressOf = (src: string) => {
      const url = new URL(`/realtime/v1/channels/${channelId}/manifest`, c.req.url);
      url.search = new URLSearchParams({ clientId: ctx.siteId, src }).toString();
      return url.href;
    };
    const { src } = c.req.valid("query");
    const { text, isPublic } = await openManifest(ctx, { channelId, src, address: callerAddress(c), addressOf });
    return c.body(text, 200, {
      "Content-Type": "application/vnd.apple.mpegurl",
      "Cache-Control": isPublic ? "public, max-age=1" : "private, no-store",
      Vary: "Tifo-Client-Id, Authorization",
    });
  },
);
