// The demo site's values for the paths and bodies of samples: an example in the OpenAPI document can't know which id to use.

const DEMO_SITE = "5eed00000000000000000001";
const CHANNEL = "5eed0000000000000000c001";
const VIEWER = "5eed0000000000000000a003";

/** Ids for samples, by path prefix and parameter name. The longest prefix wins. */
const PATHS: Record<string, Record<string, string>> = {
  "/accesscode/v1": { id: "5eed00000000000000004d01", accessCode: "HARBOUR-2026", code: "H7K2QXLM" },
  "/account/v3": { id: VIEWER },
  "/shopify/v1": { id: "5eed0000000000000000d011", siteId: DEMO_SITE },
  "/site/v1": { siteId: DEMO_SITE },
  "/site/v1/playback-keys": { id: "5eed00000000000000005c01" },
  "/site/v1/api-keys": { id: "5eed0000000000000000e001" },
  "/personalization/v1": { id: "5eed00000000000000a07001" },
  "/bundle/v1": { id: "5eed00000000000000006d01" },
  "/claimstatus/v3": { id: "5eed00000000000000006201" },
  "/dataprovider/v1": { id: "5eed000000000000000da001", providerId: "5eed000000000000000da001" },
  "/event/v1": { id: "5eed0000000000000000d001", categoryTitle: "Competition" },
  "/invite/v1": { id: "5eed00000000000000004e01", token: "Quay26" },
  "/leaderboard/v1": { id: "5eed00000000000000007801" },
  "/rundown/v1": { id: "5eed00000000000000007901" },
  "/media/v1": { id: "5eed0000000000000000f001" },
  "/navigation/v1": { id: "5eed00000000000000007001", navigationId: "5eed00000000000000007001" },
  "/overlay/v1": { id: "5eed0000000000000000a001", targetId: CHANNEL, tagId: "team:home" },
  "/overlay/v1/graphics": { id: "5eed0000000000000000f201", path: "possession.mjs" },
  "/overlay/v1/channels": { channelId: CHANNEL, id: "5eed0000000000000000a202" },
  "/output": { channelId: CHANNEL },
  "/page/v2": { id: CHANNEL, pageId: CHANNEL, pageSlug: "main-stage", templateId: "5eed00000000000000007e01", deviceId: "living-room-tv" },
  "/panel/v3": { id: "5eed0000000000000000d001" },
  "/playlist/v1": { id: "5eed00000000000000004801" },
  "/playlist/v1/validate-references": { id: "5eed00000000000000004001" },
  "/poll/v3": { id: "5eed00000000000000006001" },
  "/qna/v1": { channelId: CHANNEL },
  "/qna/v1/questions": { id: "5eed00000000000000007701" },
  "/quest/v2": { id: "5eed00000000000000006102", arrayId: "tellThem1" },
  "/quest/v2/{id}/actions": { id: "5eed00000000000000006103" },
  "/realtime/v1": { channelId: CHANNEL, clientId: DEMO_SITE },
  "/stats/v1/mappings": { providerId: "5eed000000000000000da001" },
  "/streamprovider/v1": { id: "5eed00000000000000005001" },
  "/stream/v1": { id: "5eed00000000000000005a01" },
  "/subscription/v2": { id: "5eed00000000000000004b01", accountId: VIEWER, sku: "season-pass" },
  "/themes/v1": { id: "5eed00000000000000008001" },
  "/themes/v1/custom": { id: "5eed00000000000000008002" },
  "/themes/v1/default": { id: "5eed00000000000000008801" },
  "/userprofile/v1": { id: "5eed0000000000000000b003" },
  "/video/v3": { id: "5eed00000000000000004001", ids: "5eed00000000000000004001,5eed00000000000000004002" },
  "/video/v3/metadata": { liveBroadcastId: "derby-2026-11-21" },
  "/video/v3/stats/total-views": { id: "5eed00000000000000004003" },
  "/webhooks/v1/programmatic": { id: "5eed00000000000000007002" },
  "/wallet/v1": { id: "5eed00000000000000006f01", accountId: VIEWER },
  "/wallet/v1/recurring": { walletId: "5eed00000000000000006f02", subscriptionId: "5eed00000000000000006b01" },
};

/** The same for single operations: nothing else needs what they delete, and what they create doesn't exist yet. */
const OWN: Record<string, Record<string, string>> = {
  addAccessCode: { accessCode: "HARBOUR-2027" },
  deleteLeaderboard: { id: "5eed00000000000000007802" },
  deleteMedia: { id: "5eed0000000000000000f002" },
  decideQuestion: { id: "5eed00000000000000007706" },
  deletePoll: { id: "5eed00000000000000006002" },
  getConfigurationByMetadata: { metadata: "match-2026-11-21" },
  removeStreamProvider: { id: "5eed00000000000000005002" },
  startStream: { id: "5eed00000000000000005a02" },
};

const MATCH_EVENT = {
  match: { id: "match-2026-11-21", minute: 17, kind: "goal", goal: "home", scorer: "Ada Moreno", score: { home: 1, away: 0 } },
};

/** Fields whose demo value differs from the document's example, by operation; lists are replaced as a whole. */
const BODIES: Record<string, Record<string, unknown> | unknown[]> = {
  changePassword: { oldPassword: "demo-admin-pass" },
  createAccount: { email: "newcomer@demo.example" },
  createBundle: { sku: "derby-night" },
  ingestProviderEvent: MATCH_EVENT,
  registerStreamProvider: { name: "harbour-encoder" },
  replacePollAnswers: [
    { _id: "5eed00000000000000600101", answer: "Harbour City" },
    { _id: "5eed00000000000000600102", answer: "A draw" },
    { _id: "5eed00000000000000600103", answer: "Old Dock FC" },
  ],
  respondToPoll: { answerId: "5eed00000000000000600101" },
  settlePoll: { correctAnswerId: "5eed00000000000000600101" },
  testAutomationRule: { events: [MATCH_EVENT] },
  updatePage: { slug: "main-stage" },
};

/** The demo value of an operation's parameter. */
export function demoParameter({ operationId, path }: { operationId: string; path: string }, name: string): string | undefined {
  const own = OWN[operationId]?.[name];
  if (own !== undefined) return own;
  const beginnings = Object.keys(PATHS).filter((beginning) => path.startsWith(beginning) && PATHS[beginning]?.[name] !== undefined);
  const longest = beginnings.sort((one, other) => other.length - one.length)[0];
  return longest === undefined ? undefined : PATHS[longest]?.[name];
}

/** A body's example with demo values. */
export function demoBody(operationId: string, example: unknown): unknown {
  const own = BODIES[operationId];
  if (own === undefined || Array.isArray(own)) return own ?? example;
  return typeof example === "object" ? { ...example, ...own } : own;
}
