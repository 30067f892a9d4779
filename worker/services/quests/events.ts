import { z } from "@hono/zod-openapi";
import { Id } from "#worker/lib/schemas/common.ts";
import { eventsOf } from "#worker/services/event-catalogue/event-kind.ts";
import { MINUTE, SAMPLE_IDS, SAMPLE_MOMENT } from "#worker/services/event-catalogue/sample-ids.ts";
import { Quest, RaffleResult } from "./schemas.ts";

// The raffle's seed and its SHA-256.
const SEED = "9f86d081884c7d659a2feaa0c55ad015a3bf4f1b2b0b822cd15d6c15b0f00a08";
const COMMITMENT = "7b3d979ca8330a94fa7e9e1b466d8b99e0bcdea1ec90596c0dcc8d7ef6b4300c";

export const events = eventsOf(
  {
    services: ["quest-service-v2"],
    samples: [
      [/^quest\./, { webhookId: "rewards", webhookType: "scarf", webhookValue: "derby" }],
      [
        /^quest\.(created|updated|deleted|opened|ended)$/,
        {
          _id: SAMPLE_IDS.quest,
          title: "Be there for the derby",
          description: "Watch, predict, win.",
          productId: "derby-scarf",
          rewardType: "webhook",
          rewardDescription: "A scarf of the derby",
          rewardImage: "https://demo.example/scarf.jpg",
          claimedMessage: "It is on its way.",
          channelIds: [SAMPLE_IDS.page],
          raffle: null,
          state: "open",
          timeMinimum: SAMPLE_MOMENT / 1000,
          timeMaximum: (SAMPLE_MOMENT + 120 * MINUTE) / 1000,
        },
      ],
      [/^quest\.ended$/, { state: "ended" }],
      [
        /^raffle\.drawn$/,
        { seed: SEED, commitment: COMMITMENT, entrants: 128, winners: [{ claimId: SAMPLE_IDS.claimstatus, accountId: SAMPLE_IDS.viewer }] },
      ],
    ],
  },
  {
    "quest.created": { data: Quest, description: "A quest was created" },
    "quest.deleted": { data: Quest, description: "A quest was deleted" },
    "quest.ended": { data: Quest, description: "A quest ended: at its timeMaximum, or when it was closed" },
    "quest.opened": { data: Quest, description: "A quest opened: at its timeMinimum, or when it was opened" },
    "quest.updated": { data: Quest, description: "A quest was updated" },
    "raffle.drawn": {
      data: RaffleResult.omit({ algorithm: true }).extend({ questId: Id, entrants: z.number().int() }),
      description: "A quest's raffle was drawn",
      resource: "quest/questId",
    },
  },
);
