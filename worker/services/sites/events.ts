import { eventsOf } from "#worker/services/event-catalogue/event-kind.ts";
import { DAY, SAMPLE_IDS, SAMPLE_MOMENT } from "#worker/services/event-catalogue/sample-ids.ts";
import { ArchiveEvent } from "#worker/services/site-archives/schemas.ts";
import { ApiKey } from "./api-key-schemas.ts";
import { PlaybackKey } from "./playback-key-schemas.ts";
import { Site } from "./schemas.ts";

const ids = { apikey: "5eed0000000000000e00e001", playbackkey: "5eed0000000000000e005c01", sitearchive: "5eed0000000000000e00ac01" };

export const events = eventsOf(
  {
    services: ["admin-service-v1"],
    ids,
    samples: [
      [
        /^site\.(created|updated|featuresReplaced)$/,
        {
          _id: SAMPLE_IDS.site,
          name: "Harbour City FC",
          slug: "harbour-city",
          devicelimit: 3,
          tags: ["football"],
          contractServiceChargeRate: 500,
          features: { overlays: true, polls: true },
        },
      ],
      [
        /^site\.apiKey/,
        {
          _id: ids.apikey,
          name: "Scoreboard",
          clientName: "Match-day desk",
          roles: ["overlay:write"],
          expirationTime: null,
          createdBy: SAMPLE_IDS.admin,
          previousKeyExpires: null,
        },
      ],
      [/^site\.apiKeyRotated$/, { previousKeyExpires: SAMPLE_MOMENT + DAY }],
      [
        /^site\.(export|import)/,
        { _id: ids.sitearchive, kind: "export", status: "complete", rows: 48_210, bytes: 21_400_512, skipped: 0, message: null },
      ],
      [/^site\.exportRequested$/, { status: "exporting", rows: 0, bytes: 0, completed: null }],
      [/^site\.exportFailed$/, { status: "failed", message: "It failed repeatedly because of a server error" }],
      [/^site\.imported$/, { kind: "import" }],
      [/^site\.playbackKey/, { _id: ids.playbackkey, provider: "mux", keyId: "harbour-city-2026", lifetimeSeconds: 3600 }],
    ],
  },
  {
    "site.apiKeyCreated": { data: ApiKey, description: "A developer key was created", resource: "apikey/_id" },
    "site.apiKeyRevoked": { data: ApiKey, description: "A developer key was revoked", resource: "apikey/_id" },
    "site.apiKeyRotated": { data: ApiKey, description: "A developer key was rotated", resource: "apikey/_id" },
    "site.created": { data: Site, description: "The site was created" },
    "site.exportCompleted": { data: ArchiveEvent, description: "An export of the site is complete", resource: "sitearchive/_id" },
    "site.exportFailed": { data: ArchiveEvent, description: "An export of the site failed", resource: "sitearchive/_id" },
    "site.exportRequested": { data: ArchiveEvent, description: "An export of the site was requested", resource: "sitearchive/_id" },
    "site.imported": { data: ArchiveEvent, description: "The site was imported from an archive", resource: "sitearchive/_id" },
    "site.featuresReplaced": { data: Site, description: "The site's features were replaced" },
    "site.playbackKeyAdded": { data: PlaybackKey, description: "A key that signs playback URLs was added", resource: "playbackkey/_id" },
    "site.playbackKeyDeleted": {
      data: PlaybackKey,
      description: "A key that signs playback URLs was deleted",
      resource: "playbackkey/_id",
    },
    "site.updated": { data: Site, description: "The site was updated" },
  },
);
