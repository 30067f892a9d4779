import { type Deployment, SITE } from "./sdk-page.ts";

/** A channel with a panel of each kind that viewers interact with. */
export interface SdkTestChannel {
  channelId: string;
  pollId: string;
  questId: string;
}

/** Creates a new channel, so that it has no votes or overlays of other tests. */
export async function createTestChannel(deployment: Deployment): Promise<SdkTestChannel> {
  const admin = { Authorization: `Bearer ${await deployment.signIn("admin")}` };
  const create = (path: string, body: object) => deployment.create(path, { siteId: SITE, ...body }, admin);
  const pollId = await create("/poll/v3/", {
    type: "prediction",
    name: "Next goal",
    question: "Who scores next?",
    open: true,
    answers: [{ answer: "Harbour City" }, { answer: "Old Dock" }],
  });
  const questId = await create("/quest/v2/", {
    title: "Reader",
    description: "Read the match report.",
    rewardDescription: "A sticker",
    rewardType: "prize",
    productId: "sticker",
    claimedMessage: "Yours.",
    actions: [
      {
        arrayId: "readItNow",
        kind: "open:link",
        body: "Open the report",
        callToAction: "Open the report now",
        validationValue: "https://demo.example/report",
      },
    ],
  });
  const panels = [
    await create("/panel/v3/", {
      renderer: { panel_type: "quick_pick", panel_name: "Predict", questions: [{ array_id: "nextGoal1", poll_id: pollId }] },
    }),
    await create("/panel/v3/", {
      renderer: { panel_type: "quests", panel_name: "Quests", quests: [{ array_id: "readItNow", quest_id: questId }] },
    }),
    ...["5eed0000000000000000d004", "5eed0000000000000000d005", "5eed0000000000000000d002", "5eed0000000000000000d001"],
  ];
  const channelId = await create("/page/v2/", {
    type: "channel",
    slug: `sdk-${Date.now().toString(36)}`,
    data: { name: "SDK stage", theme: "5eed00000000000000008001", sidebar: { panels } },
  });
  return { channelId, pollId, questId };
}
