import { z } from "@hono/zod-openapi";
import { createArea } from "#worker/http/area.ts";
import { tagVersion } from "#worker/http/conditional.ts";
import { ACCOUNT, CLIENT, DEVELOPER_OR_ACCOUNT } from "#worker/http/credentials.ts";
import { operation } from "#worker/http/operation.ts";
import { Id, IdParam, json, jsonBody } from "#worker/lib/schemas/common.ts";
import { listQuery, listResponse } from "#worker/services/core/list-schemas.ts";
import { BroadcastAnswer } from "#worker/services/overlays/schemas.ts";
import { decideQuestion } from "#worker/services/qna/decisions.ts";
import { askQuestion, listQuestions } from "#worker/services/qna/questions.ts";
import {
  Question,
  QUESTION_LIST_SORTS,
  QuestionBroadcastInput,
  QuestionDecision,
  QuestionFilters,
  QuestionInput,
  QuestionList,
  toQuestion,
} from "#worker/services/qna/schemas.ts";
import { showQuestion } from "#worker/services/qna/screen.ts";
import { removeUpvote, upvote } from "#worker/services/qna/upvotes.ts";

export const questions = createArea();

const tag = "Questions";
const ChannelParam = z.object({ channelId: Id });
const participate = { tag, access: { credentials: ACCOUNT, accounts: "any" } } as const;
const moderate = { tag, access: { credentials: DEVELOPER_OR_ACCOUNT, accounts: "questionModerator" } } as const;
const ban = "An account that is banned from the chat gets 403 `chat_banned`.";
const gate = "The channel's gate applies: 401 without a sign-in where it requires one, 403 without the entitlement.";

questions.openapi(
  operation({
    operationId: "listQuestions",
    tag,
    access: { credentials: CLIENT, optional: DEVELOPER_OR_ACCOUNT, accounts: "any" },
    method: "get",
    path: "/qna/v1/{channelId}/questions",
    summary: "List a channel's questions",
    description: `The approved and answered questions, those with the most upvotes first, and the caller's own in any state. Moderators get all questions; filter them by \`state\`. ${gate}`,
    request: { params: ChannelParam, query: listQuery(QUESTION_LIST_SORTS, QuestionFilters) },
    responses: { 200: json("A page of questions", QuestionList) },
    errors: ["not_found", "unauthenticated", "forbidden"],
  }),
  async (c) => {
    const query = c.req.valid("query");
    const { page, moderates, mayDecide } = await listQuestions(c.get("ctx"), c.req.valid("param").channelId, query);
    const response = listResponse(c.req.url, query, page, (question) => toQuestion(question, moderates));
    return c.json({ ...response, moderates: mayDecide }, 200);
  },
);

questions.openapi(
  operation({
    ...participate,
    operationId: "askQuestion",
    method: "post",
    path: "/qna/v1/{channelId}/questions",
    summary: "Ask a question",
    description: `Submits a question to the channel's moderators; only they and the caller see it until it is approved. Asking is the first upvote. Filtered words of the channel's chat panels, and links unless these allow them, are masked. ${ban} ${gate}`,
    limit: { name: "question", withFirstRead: true },
    request: { params: ChannelParam, body: jsonBody(QuestionInput) },
    responses: { 201: json("The question", Question) },
    errors: ["not_found", "conflict", "chat_banned"],
  }),
  async (c) => {
    const question = await askQuestion(c.get("ctx"), c.req.valid("param").channelId, c.req.valid("json"));
    tagVersion(c, question);
    return c.json(toQuestion(question, false), 201);
  },
);

questions.openapi(
  operation({
    ...moderate,
    operationId: "decideQuestion",
    method: "put",
    path: "/qna/v1/questions/{id}",
    summary: "Decide on a question",
    description:
      "Approves or dismisses a question, marks it as answered (with or without a text), or merges it into another, which gets its voters: an account that voted for both counts once. Merging into a question that was itself merged uses that one's target. A public question that is dismissed disappears from every screen. Repeating a decision changes nothing.",
    request: { params: IdParam, body: jsonBody(QuestionDecision) },
    responses: { 200: json("The updated question", Question) },
    errors: ["not_found", "conflict", "precondition_failed"],
  }),
  async (c) => {
    const question = await decideQuestion(c.get("ctx"), c.req.valid("param").id, c.req.valid("json"));
    tagVersion(c, question);
    return c.json(toQuestion(question, true), 200);
  },
);

questions.openapi(
  operation({
    ...participate,
    operationId: "upvoteQuestion",
    method: "put",
    path: "/qna/v1/questions/{id}/upvote",
    summary: "Upvote a question",
    description: `Adds the caller's upvote to an approved question; an account counts once, however often it sends this. Viewers receive the count as \`question.updated\`, at most twice a second. ${ban} ${gate}`,
    limit: { name: "upvote", withFirstRead: true },
    request: { params: IdParam },
    responses: { 200: json("The question", Question) },
    errors: ["not_found", "conflict", "chat_banned"],
  }),
  async (c) => c.json(toQuestion(await upvote(c.get("ctx"), c.req.valid("param").id), false), 200),
);

questions.openapi(
  operation({
    ...participate,
    operationId: "removeQuestionUpvote",
    method: "delete",
    path: "/qna/v1/questions/{id}/upvote",
    summary: "Take back an upvote",
    description: `Removes the caller's upvote from an approved question, if there is one. ${ban} ${gate}`,
    limit: { name: "upvote", withFirstRead: true },
    request: { params: IdParam },
    responses: { 200: json("The question", Question) },
    errors: ["not_found", "conflict", "chat_banned"],
  }),
  async (c) => c.json(toQuestion(await removeUpvote(c.get("ctx"), c.req.valid("param").id), false), 200),
);

questions.openapi(
  operation({
    ...moderate,
    operationId: "broadcastQuestion",
    method: "post",
    path: "/qna/v1/questions/{id}/broadcast",
    summary: "Show a question on screen",
    description:
      "Broadcasts an approved or answered question to its channel as an overlay with its text, the asker's name and the number of upvotes. Receipts and clearing work as for every broadcast; its `overlayId` is the question's id. Dismissing the question clears it.",
    limit: { name: "broadcast", withFirstRead: true },
    request: { params: IdParam, body: jsonBody(QuestionBroadcastInput) },
    responses: { 200: json("Its position in the channel's log", BroadcastAnswer) },
    errors: ["not_found", "conflict"],
  }),
  async (c) => {
    const sent = await showQuestion(c.get("ctx"), c.req.valid("param").id, c.req.valid("json"));
    return c.json({ success: true as const, ...sent }, 200);
  },
);
