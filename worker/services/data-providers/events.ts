import { z } from "@hono/zod-openapi";
import { ProviderEventMessage } from "#worker/services/automation-rules/schemas.ts";
import { eventsOf } from "#worker/services/event-catalogue/event-kind.ts";
import { SAMPLE_IDS, SAMPLE_MOMENT } from "#worker/services/event-catalogue/sample-ids.ts";
import { AvailableProvider } from "./schemas.ts";

const ids = { providerEvent: "5eed0000000000000e00da02" };

export const events = eventsOf(
  {
    services: ["dataprovider-service-v1"],
    ids,
    samples: [
      [
        /^dataprovider\.event$/,
        {
          id: ids.providerEvent,
          at: SAMPLE_MOMENT - 1_200,
          externalId: "goal-1",
          data: { match: { minute: 17, goal: "home", scorer: "Ada Moreno", score: { home: 1, away: 0 } } },
        },
      ],
      [
        /^dataprovider\.provider/,
        {
          _id: SAMPLE_IDS.dataprovider,
          name: "Harbour Stats",
          description: "Goals, cards and the clock",
          realtime: true,
          ttl: 60,
          facts: ["match.goal", "match.scorer"],
          factTypes: { "match.goal": "string", "match.scorer": "string" },
        },
      ],
      [/^dataprovider\.providerDisabled$/, { disabledReason: "schema.$ref: Has more than 10000 subschemas once references are expanded" }],
    ],
  },
  {
    "dataprovider.event": {
      data: ProviderEventMessage.extend({ externalId: z.string() }),
      description: "A data provider sent an event",
      resource: "dataprovider/providerId",
    },
    "dataprovider.providerDeleted": { data: AvailableProvider, description: "A data provider was deleted" },
    "dataprovider.providerDisabled": {
      data: AvailableProvider,
      description: "A data provider was disabled and its events are rejected; see `disabledReason`",
    },
    "dataprovider.providerRegistered": { data: AvailableProvider, description: "A data provider was registered" },
    "dataprovider.providerSecretRotated": { data: AvailableProvider, description: "A data provider's secret was rotated" },
    "dataprovider.providerUpdated": { data: AvailableProvider, description: "A data provider's registration was updated" },
  },
);
