import { createArea } from "#worker/http/area.ts";
import { DEVELOPER_OR_ACCOUNT } from "#worker/http/credentials.ts";
import { operation } from "#worker/http/operation.ts";
import { IdParam, json, jsonBody } from "#worker/lib/schemas/common.ts";
import { listOf, listResponse } from "#worker/services/core/list-schemas.ts";
import { cancelScheduled, getScheduled, listScheduled, scheduleAction } from "#worker/services/schedule/schedule.ts";
import { ScheduledAction, ScheduleInput, ScheduleQuery, toScheduledAction } from "#worker/services/schedule/schemas.ts";

export const schedule = createArea();

const common = { tag: "Schedule", access: { credentials: DEVELOPER_OR_ACCOUNT, accounts: "creator" } } as const;
const rights =
  "A key also needs `overlay:write`, `poll:write` or `quest:write`; an account needs the same role as for doing it now. Creators may schedule broadcasts and quests on their own channels.";

schedule.openapi(
  operation({
    ...common,
    operationId: "listScheduledActions",
    method: "get",
    path: "/schedule/v1",
    summary: "List scheduled actions",
    description:
      "What will happen and has happened at a set time, by time: what was scheduled here, when predictions lock, and when quests open and end. `state=pending` lists what is still to come. Actions are kept for 30 days after they ended. Creators get those on their channels and their own.",
    request: { query: ScheduleQuery },
    responses: { 200: json("A page of actions", listOf(ScheduledAction).openapi("ScheduledActionList")) },
  }),
  async (c) => {
    const query = c.req.valid("query");
    return c.json(listResponse(c.req.url, query, await listScheduled(c.get("ctx"), query), toScheduledAction), 200);
  },
);

schedule.openapi(
  operation({
    ...common,
    operationId: "scheduleAction",
    method: "post",
    path: "/schedule/v1",
    summary: "Schedule an action",
    description: `Shows an overlay, opens or closes a poll, or opens or closes a quest at a set time, within a second of it. The request is checked now, and the caller's rights again at that time. ${rights}`,
    request: { body: jsonBody(ScheduleInput) },
    responses: { 201: json("The scheduled action", ScheduledAction) },
    errors: ["not_found", "conflict", "channel_admin_required"],
  }),
  async (c) => c.json(toScheduledAction(await scheduleAction(c.get("ctx"), c.req.valid("json"))), 201),
);

schedule.openapi(
  operation({
    ...common,
    operationId: "getScheduledAction",
    method: "get",
    path: "/schedule/v1/{id}",
    summary: "Get a scheduled action",
    description: "Returns one action with its state and, if it failed or was missed, why.",
    request: { params: IdParam },
    responses: { 200: json("The action", ScheduledAction) },
    errors: ["not_found"],
  }),
  async (c) => c.json(toScheduledAction(await getScheduled(c.get("ctx"), c.req.valid("param").id)), 200),
);

schedule.openapi(
  operation({
    ...common,
    operationId: "cancelScheduledAction",
    method: "delete",
    path: "/schedule/v1/{id}",
    summary: "Cancel a scheduled action",
    description: `Cancels a pending action. If its time comes in the same moment, either it is cancelled or it is carried out and this returns 409, never both. Cancelling it again changes nothing. What follows from a poll or quest is cancelled there. ${rights}`,
    request: { params: IdParam },
    responses: { 200: json("The cancelled action", ScheduledAction) },
    errors: ["not_found", "conflict"],
  }),
  async (c) => c.json(toScheduledAction(await cancelScheduled(c.get("ctx"), c.req.valid("param").id)), 200),
);
