import type { Context } from "hono";
import type { AppEnv } from "#worker/http/app-env.ts";
import { createArea } from "#worker/http/area.ts";
import { tagVersionOf } from "#worker/http/conditional.ts";
import { DEVELOPER_OR_ACCOUNT } from "#worker/http/credentials.ts";
import { operation } from "#worker/http/operation.ts";
import { streamText } from "#worker/http/stream-text.ts";
import { IdParam, json, jsonBody, optionalJsonBody } from "#worker/lib/schemas/common.ts";
import { listOf, listResponse } from "#worker/services/core/list-schemas.ts";
import { exportAsRun, listAsRun } from "#worker/services/rundowns/as-run.ts";
import { clearRundown } from "#worker/services/rundowns/clear.ts";
import { previewItem } from "#worker/services/rundowns/preview.ts";
import { announceOperator } from "#worker/services/rundowns/presence.ts";
import {
  createRundown,
  deleteRundown,
  listRundowns,
  type OpenRundown,
  openRundown,
  patchRundown,
  replaceRundown,
  toRundown,
} from "#worker/services/rundowns/rundowns.ts";
import {
  AsRunList,
  AsRunQuery,
  Operators,
  PresenceInput,
  Rundown,
  RundownCleared,
  RundownClearInput,
  RundownInput,
  RundownPatch,
  RundownPreview,
  RundownPreviewInput,
  RundownQuery,
  RundownReplacement,
  RundownSummary,
  Take,
  TakeInput,
  toSummary,
  toTake,
} from "#worker/services/rundowns/schemas.ts";
import { takeItem } from "#worker/services/rundowns/take.ts";

export const rundowns = createArea();

const CSV = { "text/csv": { schema: { type: "string" as const } } };
const common = { tag: "Rundowns", access: { credentials: DEVELOPER_OR_ACCOUNT, accounts: "creator" } } as const;
const rights =
  "To add or change items, a key also needs `overlay:write`, `poll:write`, `quest:write` or `stream:write`, whichever the same needs without a rundown; creators may add quests and streams of their own channels, and no polls. Taking items needs none of these.";

/** Takes change what is shown but not the version, so that an editor's If-Match holds during the show. */
async function tagRundown(c: Context<AppEnv>, open: OpenRundown): Promise<void> {
  await tagVersionOf(c, open.rundown, JSON.stringify(toRundown(open)));
}

rundowns.openapi(
  operation({
    ...common,
    operationId: "listRundowns",
    method: "get",
    path: "/rundown/v1",
    summary: "List rundowns",
    description: "The site's rundowns or those of a channel, newest first, without their items. Creators get those of their channels.",
    request: { query: RundownQuery },
    responses: { 200: json("A page of rundowns", listOf(RundownSummary).openapi("RundownList")) },
  }),
  async (c) => {
    const query = c.req.valid("query");
    return c.json(listResponse(c.req.url, query, await listRundowns(c.get("ctx"), query), toSummary), 200);
  },
);

rundowns.openapi(
  operation({
    ...common,
    operationId: "createRundown",
    method: "post",
    path: "/rundown/v1",
    summary: "Create a rundown",
    description: `Creates the rundown of a show on a channel, with up to 200 items. ${rights}`,
    request: { body: jsonBody(RundownInput) },
    responses: { 201: json("The rundown", Rundown) },
    errors: ["not_found", "channel_admin_required"],
  }),
  async (c) => {
    const open = await createRundown(c.get("ctx"), c.req.valid("json"));
    await tagRundown(c, open);
    return c.json(toRundown(open), 201);
  },
);

rundowns.openapi(
  operation({
    ...common,
    operationId: "getRundown",
    method: "get",
    path: "/rundown/v1/{id}",
    summary: "Get a rundown",
    description:
      "Returns one rundown with its items, its generation, what is on air and who has it open. The frame `rundown.changed` on the channel's live connection tells operators when to load it again.",
    request: { params: IdParam },
    responses: { 200: json("The rundown", Rundown) },
    errors: ["not_found"],
  }),
  async (c) => {
    const open = await openRundown(c.get("ctx"), c.req.valid("param").id);
    await tagRundown(c, open);
    return c.json(toRundown(open), 200);
  },
);

rundowns.openapi(
  operation({
    ...common,
    operationId: "replaceRundown",
    method: "put",
    path: "/rundown/v1/{id}",
    summary: "Replace a rundown's items",
    description: `Replaces name, items and order. Send each item that stays with its \`_id\`. What was taken, and the position in the show, stay; takes don't invalidate an \`If-Match\`. ${rights}`,
    retries: { commutes: true },
    request: { params: IdParam, body: jsonBody(RundownReplacement) },
    responses: { 200: json("The rundown", Rundown) },
    errors: ["not_found", "conflict", "precondition_failed", "channel_admin_required"],
  }),
  async (c) => {
    const open = await replaceRundown(c.get("ctx"), c.req.valid("param").id, c.req.valid("json"));
    await tagRundown(c, open);
    return c.json(toRundown(open), 200);
  },
);

rundowns.openapi(
  operation({
    ...common,
    operationId: "patchRundown",
    method: "patch",
    path: "/rundown/v1/{id}",
    summary: "Arm an item or hold a rundown",
    description:
      "Arms the item that is taken next, for all operators and hardware buttons, or holds the rundown: while it is held, only operators take items.",
    retries: { commutes: true },
    request: { params: IdParam, body: jsonBody(RundownPatch) },
    responses: { 200: json("The rundown", Rundown) },
    errors: ["not_found", "conflict", "precondition_failed"],
  }),
  async (c) => {
    const open = await patchRundown(c.get("ctx"), c.req.valid("param").id, c.req.valid("json"));
    await tagRundown(c, open);
    return c.json(toRundown(open), 200);
  },
);

rundowns.openapi(
  operation({
    ...common,
    operationId: "deleteRundown",
    method: "delete",
    path: "/rundown/v1/{id}",
    summary: "Delete a rundown",
    description: "Deletes the rundown with its as-run log; export that first. What is on air runs to its end unless you clear it.",
    request: { params: IdParam },
    responses: { 204: { description: "Deleted" } },
    errors: ["not_found", "conflict", "precondition_failed"],
  }),
  async (c) => {
    await deleteRundown(c.get("ctx"), c.req.valid("param").id);
    return c.body(null, 204);
  },
);

rundowns.openapi(
  operation({
    ...common,
    operationId: "takeRundownItem",
    method: "post",
    path: "/rundown/v1/{id}/take",
    summary: "Take an item",
    description:
      "Puts an item on air: shows its overlay, opens, closes or settles its poll, opens or closes its quest, draws its raffle, starts or stops its stream. Send the `generation` that the operator sees: of several operators who press at once, one wins, and the others get the same take. Without a body, it takes the armed item or the next one, which is all that a hardware button needs. A request that is rejected takes nothing.",
    limit: { name: "broadcast", withFirstRead: true },
    request: { params: IdParam, body: optionalJsonBody(TakeInput) },
    responses: { 200: json("The take of this generation", Take) },
    errors: ["not_found", "conflict", "stream_provider_failed"],
  }),
  async (c) => c.json(toTake(await takeItem(c.get("ctx"), c.req.valid("param").id, c.req.valid("json"))), 200),
);

rundowns.openapi(
  operation({
    ...common,
    operationId: "previewRundownItem",
    method: "post",
    path: "/rundown/v1/{id}/preview",
    summary: "Preview an item",
    description:
      "Returns what viewers would see if the item were taken now: its overlay with the variables filled in. Nothing is sent. Missing or invalid variables are reported as a take would report them.",
    access: { ...common.access, action: "read" },
    request: { params: IdParam, body: optionalJsonBody(RundownPreviewInput) },
    responses: { 200: json("The overlay", RundownPreview) },
    errors: ["not_found"],
  }),
  async (c) => c.json(await previewItem(c.get("ctx"), c.req.valid("param").id, c.req.valid("json")), 200),
);

rundowns.openapi(
  operation({
    ...common,
    operationId: "clearRundown",
    method: "post",
    path: "/rundown/v1/{id}/clear",
    summary: "Clear a rundown's broadcasts",
    description:
      "Takes broadcasts off viewers' screens: those of an item, of one take, all of the rundown, or everything on its channel. What isn't on air stays off, so it is safe to repeat.",
    limit: { name: "broadcast", withFirstRead: true },
    request: { params: IdParam, body: optionalJsonBody(RundownClearInput) },
    responses: { 200: json("What was cleared", RundownCleared) },
    errors: ["not_found"],
  }),
  async (c) => c.json({ broadcastIds: await clearRundown(c.get("ctx"), c.req.valid("param").id, c.req.valid("json")) }, 200),
);

rundowns.openapi(
  operation({
    ...common,
    operationId: "announceOperator",
    method: "put",
    path: "/rundown/v1/{id}/presence",
    summary: "Announce an operator",
    description:
      "Tells the other operators that the caller has the rundown open, and returns who has. Repeat it every 15 seconds; without it, an operator has left after 30.",
    access: { ...common.access, action: "read" },
    request: { params: IdParam, body: optionalJsonBody(PresenceInput) },
    responses: { 200: json("Who has it open", Operators) },
    errors: ["not_found"],
  }),
  async (c) => c.json({ operators: await announceOperator(c.get("ctx"), c.req.valid("param").id, c.req.valid("json").open) }, 200),
);

rundowns.openapi(
  operation({
    ...common,
    operationId: "listAsRun",
    method: "get",
    path: "/rundown/v1/{id}/as-run",
    summary: "Get a rundown's as-run log",
    description:
      "What went out when, by whom and to how many, oldest first. The receipts of broadcasts are live; a minute after the end of a broadcast its receipt is stored for good. `format=csv` returns everything as one file, in which values that a spreadsheet would treat as a formula are prefixed with an apostrophe.",
    request: { params: IdParam, query: AsRunQuery },
    responses: {
      200: {
        description: "A page of the log, or the file",
        content: { "application/json": { schema: AsRunList }, ...CSV },
      },
    },
    errors: ["not_found"],
  }),
  async (c) => {
    const { id } = c.req.valid("param");
    const query = c.req.valid("query");
    if (query.format === "json")
      return c.json(
        listResponse(c.req.url, query, await listAsRun(c.get("ctx"), id, query), (entry) => entry),
        200,
      );
    return c.body(streamText(await exportAsRun(c.get("ctx"), id, query)), 200, {
      "Content-Type": "text/csv; charset=utf-8",
      "Content-Disposition": `attachment; filename="as-run-${id}.csv"`,
      "X-Content-Type-Options": "nosniff",
    });
  },
);
