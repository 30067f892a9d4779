import { z } from "@hono/zod-openapi";
import { Id } from "#worker/lib/schemas/common.ts";
import { eventsOf, type SampleValues } from "#worker/services/event-catalogue/event-kind.ts";
import { SAMPLE_IDS } from "#worker/services/event-catalogue/sample-ids.ts";
import { Page } from "./schemas.ts";
import { ChannelTemplate } from "./template-schemas.ts";

const ids = { landing: "5eed0000000000000e00c101", template: "5eed0000000000000e007e01" };

const OnDevice = z.object({ accountId: Id, deviceId: z.string() });

const samples: SampleValues = [
  [/^admin\.(channel|landing)/, { _id: SAMPLE_IDS.page, type: "channel", slug: "main-stage", tags: ["football"] }],
  [/^admin\.channel/, { data: { name: "Main stage", gate: { type: "entitlement", skus: ["season-pass"] }, external_field_1: "match-7" } }],
  [
    /^admin\.landing/,
    { _id: ids.landing, type: "landing", slug: "season", data: { name: "The season", gate: { type: "none", skus: [] } } },
  ],
  [
    /^admin\.template/,
    {
      _id: ids.template,
      title: "Match day",
      description: "Chat, polls and the line-ups",
      icon: "whistle",
      theme: SAMPLE_IDS.theme,
      creator: SAMPLE_IDS.admin,
      owner: SAMPLE_IDS.admin,
      archived: false,
    },
  ],
  [/^admin\.templateArchived$/, { archived: true }],
  [/^device\./, { deviceId: "living-room-tv" }],
];

export const events = {
  ...eventsOf(
    { services: ["page-service-v2", "admin-service-v1"], ids, samples },
    {
      "admin.channelCreated": { data: Page, description: "A channel was created", resource: "page/_id" },
      "admin.channelDeleted": { data: Page, description: "A channel was deleted", resource: "page/_id" },
      "admin.channelUpdated": { data: Page, description: "A channel was updated", resource: "page/_id" },
      "admin.landingCreated": { data: Page, description: "A landing page was created", resource: "page/_id" },
      "admin.landingDeleted": { data: Page, description: "A landing page was deleted", resource: "page/_id" },
      "admin.landingUpdated": { data: Page, description: "A landing page was updated", resource: "page/_id" },
      "admin.templateArchived": { data: ChannelTemplate, description: "A channel template was archived", resource: "template/_id" },
      "admin.templateCreated": { data: ChannelTemplate, description: "A channel template was created", resource: "template/_id" },
      "admin.templateUpdated": { data: ChannelTemplate, description: "A channel template was updated", resource: "template/_id" },
    },
  ),
  ...eventsOf(
    { services: ["account-service-v3"], ids, samples },
    {
      "device.claimed": { data: OnDevice, description: "A device took one of an account's slots", resource: "account/accountId" },
      "device.freed": { data: OnDevice, description: "A device slot was released", resource: "account/accountId" },
    },
  ),
};
