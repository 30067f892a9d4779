import { createArea } from "#worker/http/area.ts";
import { tagVersion } from "#worker/http/conditional.ts";
import { ACCOUNT, DEVELOPER_OR_ACCOUNT } from "#worker/http/credentials.ts";
import { listAnswer, listOf } from "#worker/services/core/list-schemas.ts";
import { operation } from "#worker/http/operation.ts";
import { Deleted, deleted, IdParam, json, jsonBody, optionalJsonBody } from "#worker/lib/schemas/common.ts";
import { claimQuest } from "#worker/services/claim-statuses/claims.ts";
import { getProgress, reportAction } from "#worker/services/quests/progress.ts";
import { createQuest, deleteQuest, getQuest, INVALID_QUEST, listQuests, replaceQuest } from "#worker/services/quests/quests.ts";
import { questManager } from "#worker/services/quests/channel-admins.ts";
import { drawRaffle } from "#worker/services/quests/raffles.ts";
import { ClaimStatus, toClaimStatus } from "#worker/services/claim-statuses/schemas.ts";
import {
  ActionParam,
  ActionReport,
  DrawInput,
  Quest,
  QuestInput,
  QuestProgress,
  QuestQuery,
  RaffleResult,
  toQuest,
} from "#worker/services/quests/schemas.ts";

export const quests = createArea();

const common = { tag: "Quests", access: { credentials: ACCOUNT, errors: { globalAccount: "no_account" } } } as const;

quests.openapi(
  operation({
    ...common,
    operationId: "listQuests",
    method: "get",
    path: "/quest/v2",
    summary: "List quests",
    description: "The site's quests, the last changed first, filtered by any property. `search` looks in title and description.",
    access: { ...common.access, accounts: "any" },
    request: { query: QuestQuery },
    responses: { 200: json("A page of quests", listOf(Quest).openapi("QuestList")) },
  }),
  async (c) => {
    const query = c.req.valid("query");
    const page = await listQuests(c.var.ctx, query);
    const manages = await questManager(c.var.ctx);
    return c.json(
      listAnswer(c.req.url, query, page, (quest) => toQuest(quest, manages(quest))),
      200,
    );
  },
);

quests.openapi(
  operation({
    ...common,
    operationId: "createQuest",
    method: "post",
    path: "/quest/v2",
    summary: "Create a quest",
    description:
      "Makes a quest of up to 100 actions for its channels or, without any, for the whole site, which takes a site admin. A raffle shows from now on what proves its seed.",
    access: { ...common.access, accounts: "creator" },
    input: { invalidMessage: INVALID_QUEST },
    request: { body: jsonBody(QuestInput) },
    responses: { 201: json("The quest", Quest) },
    errors: ["channel_admin_required"],
  }),
  async (c) => {
    const quest = await createQuest(c.var.ctx, c.req.valid("json"));
    tagVersion(c, quest);
    return c.json(toQuest(quest, true), 201);
  },
);

quests.openapi(
  operation({
    ...common,
    operationId: "getQuest",
    method: "get",
    path: "/quest/v2/{id}",
    summary: "Get a quest",
    description: "One quest with its actions and, where its reward is a raffle, how that stands.",
    access: { ...common.access, accounts: "any" },
    request: { params: IdParam },
    responses: { 200: json("The quest", Quest) },
    errors: ["not_found"],
  }),
  async (c) => {
    const quest = await getQuest(c.var.ctx, c.req.valid("param").id);
    const manages = await questManager(c.var.ctx);
    tagVersion(c, quest);
    return c.json(toQuest(quest, manages(quest)), 200);
  },
);

quests.openapi(
  operation({
    ...common,
    operationId: "replaceQuest",
    method: "put",
    path: "/quest/v2/{id}",
    summary: "Replace a quest",
    description:
      "Replaces the quest; the caller must be admin of all its channels, of those that it had and of those that it gets. What viewers have done counts towards the new actions where it fits them.",
    access: { ...common.access, accounts: "creator", errors: { ...common.access.errors, missingRole: "channel_admin_required" } },
    input: { invalidMessage: INVALID_QUEST },
    request: { params: IdParam, body: jsonBody(QuestInput) },
    responses: { 200: json("The quest as it is now", Quest) },
    errors: ["not_found", "conflict", "precondition_failed", "channel_admin_required"],
  }),
  async (c) => {
    const quest = await replaceQuest(c.var.ctx, c.req.valid("param").id, c.req.valid("json"));
    tagVersion(c, quest);
    return c.json(toQuest(quest, true), 200);
  },
);

quests.openapi(
  operation({
    ...common,
    operationId: "deleteQuest",
    method: "delete",
    path: "/quest/v2/{id}",
    summary: "Delete a quest",
    description: "Deletes a quest that no panel shows; a 409 names the panels that do. Its claims stay.",
    access: { ...common.access, accounts: "creator" },
    request: { params: IdParam },
    responses: { 200: json("It is gone", Deleted) },
    errors: ["not_found", "conflict", "precondition_failed", "channel_admin_required"],
  }),
  async (c) => c.json(deleted(await deleteQuest(c.var.ctx, c.req.valid("param").id)), 200),
);

quests.openapi(
  operation({
    ...common,
    operationId: "getQuestProgress",
    method: "get",
    path: "/quest/v2/{id}/progress",
    summary: "Get one's progress in a quest",
    description:
      "How far the caller is with each action: worked out at this moment from the polls answered, the videos watched, the channels visited and the panels opened over the live connection, and from reports. What happened outside the quest's or the action's time doesn't count.",
    access: { ...common.access, accounts: "any" },
    request: { params: IdParam },
    responses: { 200: json("The caller's progress", QuestProgress) },
    errors: ["not_found"],
  }),
  async (c) => c.json(await getProgress(c.var.ctx, c.req.valid("param").id), 200),
);

quests.openapi(
  operation({
    ...common,
    operationId: "reportQuestAction",
    method: "post",
    path: "/quest/v2/{id}/actions/{arrayId}",
    summary: "Report an action",
    description:
      "Tells that the caller has done what the server can't see: `open:link`, `quest:view`, `retweet` and `share:facebook:video`. A `value` that is not the action's validationValue is a 400; the same value counts once, and of retweets each that comes without one. A report on any other kind changes nothing: it is answered with the progress that the server knows of.",
    access: { ...common.access, accounts: "any", action: "write" },
    request: { params: ActionParam, body: optionalJsonBody(ActionReport) },
    responses: { 200: json("The caller's progress", QuestProgress) },
    errors: ["not_found", "conflict"],
  }),
  async (c) => {
    const { id, arrayId } = c.req.valid("param");
    return c.json(await reportAction(c.var.ctx, id, arrayId, c.req.valid("json").value), 200);
  },
);

quests.openapi(
  operation({
    ...common,
    operationId: "claimQuest",
    method: "post",
    path: "/quest/v2/{id}/claim",
    summary: "Claim a quest's reward",
    description:
      "Claims the reward of a quest that the caller has completed, once and within the quest's time. A prize that is a sku of the site is granted at once (`SUCCESS`), everything else waits (`PENDING`): a raffle for its draw, the others for the site's systems, which hear of it by `quest.claimed`. From a country where the reward is not given the claim is `ERROR_REGION`.",
    access: { ...common.access, accounts: "any" },
    request: { params: IdParam },
    responses: { 201: json("The claim", ClaimStatus) },
    errors: ["not_found", "conflict"],
  }),
  async (c) => {
    // What Cloudflare says of the address: what a caller writes there, it overwrites.
    const claim = await claimQuest(c.var.ctx, c.req.valid("param").id, c.req.header("CF-IPCountry"));
    tagVersion(c, claim);
    return c.json(toClaimStatus(claim), 201);
  },
);

quests.openapi(
  operation({
    ...common,
    operationId: "drawQuestRaffle",
    method: "post",
    path: "/quest/v2/{id}/draw",
    summary: "Draw a quest's raffle",
    description:
      "Draws the winners among the claims that wait: theirs succeed, the others end in `ERROR`. The seed that the answer shows was fixed with the quest, as its commitment proves; with the entrants and the algorithm anybody can draw again and compare. A raffle is drawn once: a second draw answers the first's result.",
    access: { ...common.access, credentials: DEVELOPER_OR_ACCOUNT, accounts: "creator" },
    retries: { replay: "receipt" },
    request: { params: IdParam, body: jsonBody(DrawInput) },
    responses: { 200: json("How it came out", RaffleResult) },
    errors: ["not_found", "conflict", "channel_admin_required"],
  }),
  async (c) => c.json(await drawRaffle(c.var.ctx, c.req.valid("param").id, c.req.valid("json").winners), 200),
);
