import { newRaffle } from "#worker/services/quests/raffles.ts";
import type { claims, quests } from "#db/schema/engagement/quests.ts";
import type { QuestAction } from "#db/types.ts";
import { CHANNEL_1, CHANNEL_2, CHANNEL_B, DAY, HOUR, KICK_OFF, SITE_A, SITE_B, stamps } from "./match-day.ts";
import { DERBY_RESULT } from "./polls.ts";

type QuestInsert = typeof quests.$inferInsert;

export const FIRST_HALF = "5eed00000000000000006101";
export const PROPHET = "5eed00000000000000006102";
export const TUNNEL = "5eed00000000000000006103";

const VIEWER = "5eed0000000000000000a003";
const seconds = (time: number): number => time / 1000;

/** The quests of the match day. Their rewards are a scarf, a ticket in the draw for a shirt, and the season pass. */
export async function demoQuests(secrets: { TIFO_SECRET: string }): Promise<QuestInsert[]> {
  return [
    quest(FIRST_HALF, SITE_A, {
      title: "First half hero",
      description: "Watch ten minutes of the first half on the main stage.",
      rewardDescription: "A scarf, sent home",
      rewardType: "prize-service-specific",
      productId: "derby-scarf",
      regions: ["GB", "IE"],
      claimedMessage: "The scarf is on its way.",
      channelIds: [CHANNEL_1],
      actions: [
        action("watchTen1", "watch:any:video", "Watch ten minutes before half-time", {
          channelId: CHANNEL_1,
          timeMinimum: seconds(KICK_OFF),
          timeMaximum: seconds(KICK_OFF + HOUR),
          valueRequired: 10,
        }),
      ],
    }),
    {
      ...quest(PROPHET, SITE_A, {
        title: "Prophet of the derby",
        description: "Call the result of the derby before kick-off.",
        rewardDescription: "A signed shirt, drawn after the final whistle",
        rewardType: "raffle",
        productId: "signed-shirt",
        claimedMessage: "You are in the draw.",
        timeMaximum: seconds(KICK_OFF + 7 * DAY),
        actions: [
          action("callDerby", "answer:predictions:specific:correctly", "Who wins the derby?", {
            callToAction: "Make your call",
            validationValue: DERBY_RESULT,
          }),
        ],
      }),
      ...(await newRaffle(secrets)),
    },
    quest(TUNNEL, SITE_A, {
      title: "Down the tunnel",
      description: "Go backstage and tell your friends.",
      rewardDescription: "The season pass",
      rewardType: "prize",
      productId: "season-pass",
      claimedMessage: "Enjoy the season.",
      channelIds: [CHANNEL_1, CHANNEL_2],
      actions: [
        action("backstge1", "visit:channel", "Visit the backstage channel", { validationValue: CHANNEL_2 }),
        action("tellThem1", "retweet", "Share our line-up, twice", { valueRequired: 2 }),
      ],
    }),
    quest("5eed00000000000000006111", SITE_B, {
      title: "Sing along",
      description: "Be at the dock side before kick-off.",
      rewardDescription: "A mug",
      rewardType: "webhook",
      productId: "dock-mug",
      claimedMessage: "See you at the shop.",
      webhookId: "dock-shop",
      webhookType: "order",
      webhookValue: "dock-mug",
      channelIds: [CHANNEL_B],
      actions: [
        action("beThere01", "visit:time", "Join in the hour before kick-off", {
          timeMinimum: seconds(KICK_OFF - HOUR),
          timeMaximum: seconds(KICK_OFF),
        }),
      ],
    }),
  ];
}

export function demoClaims(): (typeof claims.$inferInsert)[] {
  const claim = { ...stamps, siteId: SITE_A, accountId: VIEWER, productId: "derby-scarf", rewardType: "prize-service-specific" as const };
  return [{ ...claim, id: "5eed00000000000000006201", questId: FIRST_HALF, status: "PENDING", message: "The scarf is on its way." }];
}

type Texts = "title" | "description" | "rewardDescription" | "rewardType" | "claimedMessage" | "actions";

function quest(id: string, siteId: string, fields: Pick<QuestInsert, Texts> & Partial<QuestInsert>): QuestInsert {
  return { ...stamps, regions: [], channelIds: [], tags: ["derby"], ...fields, id, siteId };
}

function action(arrayId: string, kind: QuestAction["kind"], body: string, change: Partial<QuestAction>): QuestAction {
  const open = { callToAction: null, channelId: null, timeMinimum: null, timeMaximum: null, validationValue: null, valueRequired: null };
  return { ...open, arrayId, kind, body, ...change };
}
