import { z } from "@hono/zod-openapi";
import { createArea } from "#worker/http/area.ts";
import { tagVersion } from "#worker/http/conditional.ts";
import { ACCOUNT, CLIENT, DEVELOPER_OR_ACCOUNT } from "#worker/http/credentials.ts";
import { listResponse, listOf, listQuery } from "#worker/services/core/list-schemas.ts";
import { operation } from "#worker/http/operation.ts";
import { Deleted, deleted, IdParam, json, jsonBody, optionalJsonBody } from "#worker/lib/schemas/common.ts";
import { findReferences } from "#worker/services/polls/references.ts";
import { getResults, listStates } from "#worker/services/polls/states.ts";
import { ownResponses, respond } from "#worker/services/polls/votes.ts";
import {
  createPoll,
  deletePoll,
  getPoll,
  isInsider,
  listPolls,
  patchPoll,
  replaceAnswers,
  replacePoll,
  settlePoll,
} from "#worker/services/polls/polls.ts";
import {
  AnswersInput,
  Poll,
  PollAnswer,
  PollFilters,
  PollInput,
  PollPatch,
  PollReference,
  PollReplacement,
  PollResponse,
  PollResults,
  PollState,
  PollStatesQuery,
  ResponseInput,
  SettleInput,
  toAnswers,
  toOwnResponse,
  toPoll,
  toResponse,
} from "#worker/services/polls/schemas.ts";

export const polls = createArea();

const read = { tag: "Polls", access: { credentials: CLIENT, optional: DEVELOPER_OR_ACCOUNT, accounts: "any" } } as const;
const write = { tag: "Polls", access: { credentials: DEVELOPER_OR_ACCOUNT } } as const;
const insiders = "The correct answer of an unsettled poll is only returned to callers with a developer key or an admin's token.";
const changeErrors = ["not_found", "conflict", "precondition_failed", "unavailable"] as const;

polls.openapi(
  operation({
    ...read,
    operationId: "listPolls",
    method: "get",
    path: "/poll/v3",
    summary: "List polls",
    description: `The site's polls, predictions and trivia, newest first. ${insiders}`,
    request: { query: listQuery(["created", "name"], PollFilters) },
    responses: { 200: json("A page of polls", listOf(Poll).openapi("PollList")) },
  }),
  async (c) => {
    const query = c.req.valid("query");
    const page = await listPolls(c.get("ctx"), query);
    const insider = await isInsider(c.get("ctx"));
    return c.json(
      listResponse(c.req.url, query, page, (poll) => toPoll(poll, insider)),
      200,
    );
  },
);

polls.openapi(
  operation({
    ...write,
    operationId: "createPoll",
    method: "post",
    path: "/poll/v3",
    summary: "Create a poll",
    description: "Creates a poll, optionally with its answers. Viewers see it in the panels that include it.",
    request: { body: jsonBody(PollInput) },
    responses: { 201: json("The poll", Poll) },
  }),
  async (c) => {
    const poll = await createPoll(c.get("ctx"), c.req.valid("json"));
    tagVersion(c, poll);
    return c.json(toPoll(poll, true), 201);
  },
);

polls.openapi(
  operation({
    ...write,
    operationId: "listPollReferences",
    method: "get",
    path: "/poll/v3/validate-references/{id}",
    summary: "List what uses a poll",
    description: "The panels (`poll`) and quests that use the poll. It can't be deleted while there are any.",
    request: { params: IdParam },
    responses: { 200: json("The panels and quests", z.array(PollReference)) },
    errors: ["not_found"],
  }),
  async (c) => {
    const { id } = await getPoll(c.get("ctx"), c.req.valid("param").id);
    return c.json(await findReferences(c.get("ctx"), id), 200);
  },
);

polls.openapi(
  operation({
    ...read,
    operationId: "listPollStates",
    method: "get",
    path: "/poll/v3/states",
    summary: "List polls with their results",
    description: `What a page with polls shows, in one request: each poll with its results and the caller's own responses, in the order of the ids. Unknown ids are left out. ${insiders}`,
    request: { query: PollStatesQuery },
    responses: { 200: json("The polls with their results", z.array(PollState)) },
  }),
  async (c) => c.json(await listStates(c.get("ctx"), c.req.valid("query").ids), 200),
);

polls.openapi(
  operation({
    ...read,
    operationId: "getPoll",
    method: "get",
    path: "/poll/v3/{id}",
    summary: "Get a poll",
    description: `Returns one poll with its answers. ${insiders}`,
    request: { params: IdParam },
    responses: { 200: json("The poll", Poll) },
    errors: ["not_found"],
  }),
  async (c) => {
    const poll = await getPoll(c.get("ctx"), c.req.valid("param").id);
    tagVersion(c, poll);
    return c.json(toPoll(poll, await isInsider(c.get("ctx"))), 200);
  },
);

polls.openapi(
  operation({
    ...write,
    operationId: "replacePoll",
    method: "put",
    path: "/poll/v3/{id}",
    summary: "Replace a poll",
    description:
      "Replaces everything but the answers, which have their own operation. If this closes the poll, no responses are counted after the request succeeds. A settled poll can't be reopened.",
    request: { params: IdParam, body: jsonBody(PollReplacement) },
    responses: { 200: json("The updated poll", Poll) },
    errors: changeErrors,
  }),
  async (c) => {
    const poll = await replacePoll(c.get("ctx"), c.req.valid("param").id, c.req.valid("json"));
    tagVersion(c, poll);
    return c.json(toPoll(poll, true), 200);
  },
);

polls.openapi(
  operation({
    ...write,
    operationId: "patchPoll",
    method: "patch",
    path: "/poll/v3/{id}",
    summary: "Update a poll",
    description:
      "Updates the given fields; `open` opens or closes the poll. After a request that closes it succeeds, no responses are counted. A settled poll can't be reopened.",
    request: { params: IdParam, body: jsonBody(PollPatch) },
    responses: { 200: json("The updated poll", Poll) },
    errors: changeErrors,
  }),
  async (c) => {
    const poll = await patchPoll(c.get("ctx"), c.req.valid("param").id, c.req.valid("json"));
    tagVersion(c, poll);
    return c.json(toPoll(poll, true), 200);
  },
);

polls.openapi(
  operation({
    ...write,
    operationId: "deletePoll",
    method: "delete",
    path: "/poll/v3/{id}",
    summary: "Delete a poll",
    description:
      "Deletes the poll and all its responses, unless a panel or a quest uses it. What viewers have paid for responses is refunded unless the poll is settled.",
    request: { params: IdParam },
    responses: { 200: json("Deleted", Deleted) },
    errors: changeErrors,
  }),
  async (c) => c.json(deleted(await deletePoll(c.get("ctx"), c.req.valid("param").id)), 200),
);

polls.openapi(
  operation({
    operationId: "listPollAnswers",
    tag: "Polls",
    access: { credentials: CLIENT },
    method: "get",
    path: "/poll/v3/{id}/answers",
    summary: "List a poll's answers",
    description: "The poll's answers, in order. The ETag is the poll's.",
    request: { params: IdParam },
    responses: { 200: json("The answers", z.array(PollAnswer)) },
    errors: ["not_found"],
  }),
  async (c) => {
    const poll = await getPoll(c.get("ctx"), c.req.valid("param").id);
    tagVersion(c, poll);
    return c.json(toAnswers(poll), 200);
  },
);

polls.openapi(
  operation({
    ...write,
    operationId: "replacePollAnswers",
    method: "put",
    path: "/poll/v3/{id}/answers",
    summary: "Replace a poll's answers",
    description:
      "Replaces the list: an answer with an `_id` is kept with its responses, one without is added, and an omitted one is removed. An answer with responses can't be removed.",
    request: { params: IdParam, body: jsonBody(AnswersInput) },
    responses: { 200: json("The updated answers", z.array(PollAnswer)) },
    errors: changeErrors,
  }),
  async (c) => {
    const poll = await replaceAnswers(c.get("ctx"), c.req.valid("param").id, c.req.valid("json"));
    tagVersion(c, poll);
    return c.json(toAnswers(poll), 200);
  },
);

polls.openapi(
  operation({
    operationId: "respondToPoll",
    tag: "Polls",
    access: { credentials: ACCOUNT, accounts: "any" },
    method: "post",
    path: "/poll/v3/{id}/responses",
    summary: "Respond to a poll",
    description:
      "Counts the caller's response, up to the poll's `responsesPerViewer`. If the poll has a `responseCost`, the caller's wallet is debited in the same commit, once; send what the viewer has agreed to as `cost`. Safe to retry with an Idempotency-Key. The `vote` frame on a channel's WebSocket does the same.",
    request: { params: IdParam, body: jsonBody(ResponseInput) },
    responses: { 201: json("The response", PollResponse) },
    errors: ["not_found", "already_answered", "poll_closed", "insufficient_balance", "conflict"],
  }),
  async (c) => {
    const { id } = c.req.valid("param");
    const { vote, payment } = await respond(c.get("ctx"), id, c.req.valid("json"));
    return c.json(toResponse(c.get("ctx").siteId, id, vote, payment), 201);
  },
);

polls.openapi(
  operation({
    operationId: "listOwnPollResponses",
    tag: "Polls",
    access: { credentials: ACCOUNT, accounts: "any" },
    method: "get",
    path: "/poll/v3/{id}/responses",
    summary: "List the caller's responses to a poll",
    description:
      "What the signed-in viewer has answered, oldest first: at most the poll's `responsesPerViewer`, and none before the first response. Complete as soon as a response is acknowledged. Nobody can read another account's responses. They are deleted 400 days after the poll was closed, unless the deployment keeps them for another time.",
    request: { params: IdParam },
    responses: { 200: json("The caller's responses", z.array(PollResponse)) },
    errors: ["not_found", "unavailable"],
  }),
  async (c) => {
    const { id } = c.req.valid("param");
    const responses = await ownResponses(c.get("ctx"), id);
    const { siteId } = c.get("ctx");
    return c.json(
      responses.map((response) => toOwnResponse(siteId, id, response)),
      200,
    );
  },
);

polls.openapi(
  operation({
    ...read,
    operationId: "getPollResults",
    method: "get",
    path: "/poll/v3/{id}/results",
    summary: "Get a poll's results",
    description:
      "The tally, at most a second old and exact once the poll is closed. Channels receive it as `poll.updated`, at most twice a second. While a poll that hides its results is open, counts are only returned to callers with a developer key or an admin's token.",
    request: { params: IdParam },
    responses: { 200: json("The tally", PollResults) },
    errors: ["not_found", "unavailable"],
  }),
  async (c) => c.json(await getResults(c.get("ctx"), c.req.valid("param").id), 200),
);

polls.openapi(
  operation({
    ...write,
    operationId: "settlePoll",
    method: "post",
    path: "/poll/v3/{id}/settle",
    summary: "Settle a poll",
    description:
      "Closes the poll and sets the correct answer, which advances the quests of accounts that gave it. Repeating the request changes nothing; another answer corrects the outcome, but rewards that were already claimed stay claimed. A 409 once the responses have been deleted, 400 days after the poll was closed.",
    request: { params: IdParam, body: optionalJsonBody(SettleInput) },
    responses: { 200: json("The updated poll", Poll) },
    errors: changeErrors,
  }),
  async (c) => {
    const poll = await settlePoll(c.get("ctx"), c.req.valid("param").id, c.req.valid("json").correctAnswerId);
    tagVersion(c, poll);
    return c.json(toPoll(poll, true), 200);
  },
);
