import { z } from "@hono/zod-openapi";
import { createArea } from "#worker/http/area.ts";
import { tagVersion } from "#worker/http/conditional.ts";
import { ACCOUNT, DEVELOPER_OR_ACCOUNT } from "#worker/http/credentials.ts";
import { listResponse, listOf } from "#worker/services/core/list-schemas.ts";
import { operation } from "#worker/http/operation.ts";
import { Deleted, deleted, IdParam, json, jsonBody, optionalJsonBody } from "#worker/lib/schemas/common.ts";
import { claimQuest } from "#worker/services/claim-statuses/claims.ts";
import { getProgress, reportAction } from "#worker/services/quests/progress.ts";
import { createQuest, deleteQuest, getQuest, INVALID_QUEST, listQuests, replaceQuest } from "#worker/services/quests/quests.ts";
import { questManager } from "#worker/services/quests/channel-admins.ts";
import { listStates } from "#worker/services/quests/states.ts";
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
  QuestState,
  QuestStatesQuery,
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
    description: "The site's quests, most recently modified first, filtered by any property. `search` matches title and description.",
    access: { ...common.access, accounts: "any" },
    request: { query: QuestQuery },
    responses: { 200: json("A page of quests", listOf(Quest).openapi("QuestList")) },
  }),
  async (c) => {
    const query = c.req.valid("query");
    const page = await listQuests(c.get("ctx"), query);
    const manages = await questManager(c.get("ctx"));
    return c.json(
      listResponse(c.req.url, query, page, (quest) => toQuest(quest, manages(quest), c.get("ctx").now)),
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
      "Creates a quest of up to 100 actions for its channels or, without channels, for the whole site, which requires a site admin. For a raffle, the response contains the commitment to its seed.",
    access: { ...common.access, accounts: "creator" },
    input: { invalidMessage: INVALID_QUEST },
    request: { body: jsonBody(QuestInput) },
    responses: { 201: json("The quest", Quest) },
    errors: ["channel_admin_required"],
  }),
  async (c) => {
    const quest = await createQuest(c.get("ctx"), c.req.valid("json"));
    tagVersion(c, quest);
    return c.json(toQuest(quest, true, c.get("ctx").now), 201);
  },
);

quests.openapi(
  operation({
    ...common,
    operationId: "listQuestStates",
    method: "get",
    path: "/quest/v2/states",
    summary: "List quests with the caller's progress",
    description:
      "What a page with quests shows, in one request: each quest with the caller's progress and claim, in the order of the ids. Unknown ids are left out.",
    access: { ...common.access, accounts: "any" },
    request: { query: QuestStatesQuery },
    responses: { 200: json("The quests with the caller's progress", z.array(QuestState)) },
  }),
  async (c) => c.json(await listStates(c.get("ctx"), c.req.valid("query").ids), 200),
);

quests.openapi(
  operation({
    ...common,
    operationId: "getQuest",
    method: "get",
    path: "/quest/v2/{id}",
    summary: "Get a quest",
    description: "Returns one quest with its actions and, if its reward is a raffle, the state of the draw.",
    access: { ...common.access, accounts: "any" },
    request: { params: IdParam },
    responses: { 200: json("The quest", Quest) },
    errors: ["not_found"],
  }),
  async (c) => {
    const quest = await getQuest(c.get("ctx"), c.req.valid("param").id);
    const manages = await questManager(c.get("ctx"));
    tagVersion(c, quest);
    return c.json(toQuest(quest, manages(quest), c.get("ctx").now), 200);
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
      "Replaces the quest. The caller must administer all of its old and new channels. What viewers have done so far counts towards the new actions if it matches them.",
    access: { ...common.access, accounts: "creator", errors: { ...common.access.errors, missingRole: "channel_admin_required" } },
    input: { invalidMessage: INVALID_QUEST },
    request: { params: IdParam, body: jsonBody(QuestInput) },
    responses: { 200: json("The updated quest", Quest) },
    errors: ["not_found", "conflict", "precondition_failed", "channel_admin_required"],
  }),
  async (c) => {
    const quest = await replaceQuest(c.get("ctx"), c.req.valid("param").id, c.req.valid("json"));
    tagVersion(c, quest);
    return c.json(toQuest(quest, true, c.get("ctx").now), 200);
  },
);

quests.openapi(
  operation({
    ...common,
    operationId: "deleteQuest",
    method: "delete",
    path: "/quest/v2/{id}",
    summary: "Delete a quest",
    description: "Deletes a quest. While panels show it, the response is a 409 that names them. Its claims stay.",
    access: { ...common.access, accounts: "creator" },
    request: { params: IdParam },
    responses: { 200: json("Deleted", Deleted) },
    errors: ["not_found", "conflict", "precondition_failed", "channel_admin_required"],
  }),
  async (c) => c.json(deleted(await deleteQuest(c.get("ctx"), c.req.valid("param").id)), 200),
);

quests.openapi(
  operation({
    ...common,
    operationId: "getQuestProgress",
    method: "get",
    path: "/quest/v2/{id}/progress",
    summary: "Get the caller's progress in a quest",
    description:
      "The caller's progress with each action, computed on request from the polls answered, the videos watched, the channels visited and the panels opened over the live connection, and from reports. Nothing outside the time window of the quest or the action counts.",
    access: { ...common.access, accounts: "any" },
    request: { params: IdParam },
    responses: { 200: json("The caller's progress", QuestProgress) },
    errors: ["not_found"],
  }),
  async (c) => c.json(await getProgress(c.get("ctx"), c.req.valid("param").id), 200),
);

quests.openapi(
  operation({
    ...common,
    operationId: "reportQuestAction",
    method: "post",
    path: "/quest/v2/{id}/actions/{arrayId}",
    summary: "Report an action",
    description:
      "Reports an action that the server can't observe: `open:link`, `quest:view`, `retweet` or `share:facebook:video`. A `value` that doesn't match the action's validationValue is a 400. The same value counts once; each retweet without a value counts. A report for any other kind changes nothing and returns the current progress.",
    access: { ...common.access, accounts: "any", action: "write" },
    request: { params: ActionParam, body: optionalJsonBody(ActionReport) },
    responses: { 200: json("The caller's progress", QuestProgress) },
    errors: ["not_found", "conflict"],
  }),
  async (c) => {
    const { id, arrayId } = c.req.valid("param");
    return c.json(await reportAction(c.get("ctx"), id, arrayId, c.req.valid("json").value), 200);
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
      "Claims the reward of a quest that the caller has completed, once and within the quest's time window. A prize that is a sku of the site, or only a `rewardAmount`, is granted immediately (`SUCCESS`); everything else is `PENDING`: a raffle until its draw, the others until the site's systems, which receive `quest.claimed`, fulfil it. In a country where the reward is not available, the claim is `ERROR_REGION`. Any other claim of a quest with a `claimCost` debits the caller's wallet, or is a 409 `insufficient_balance`.",
    access: { ...common.access, accounts: "any" },
    request: { params: IdParam },
    responses: { 201: json("The claim", ClaimStatus) },
    errors: ["not_found", "conflict", "insufficient_balance"],
  }),
  async (c) => {
    // Cloudflare sets the country from the address and overwrites any value that the caller sends.
    const claim = await claimQuest(c.get("ctx"), c.req.valid("param").id, c.req.header("CF-IPCountry"));
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
      "Draws the winners among the pending claims: winning claims succeed, the others end in `ERROR`. The seed in the response was fixed when the quest was created, as its commitment proves; with the entrants and the algorithm, anyone can repeat the draw and compare. A raffle is drawn once: a second draw returns the first result.",
    access: { ...common.access, credentials: DEVELOPER_OR_ACCOUNT, accounts: "creator" },
    retries: { replay: "receipt" },
    request: { params: IdParam, body: jsonBody(DrawInput) },
    responses: { 200: json("The result of the draw", RaffleResult) },
    errors: ["not_found", "conflict", "channel_admin_required"],
  }),
  async (c) => c.json(await drawRaffle(c.get("ctx"), c.req.valid("param").id, c.req.valid("json").winners), 200),
);
