import { createArea } from "../../http/area.ts";
import { DEVELOPER } from "../../http/credentials.ts";
import { operation } from "../../http/operation.ts";
import { json } from "../../http/schemas.ts";
import { readEvents } from "../../services/events.ts";
import { EventList, EventQuery } from "./schemas.ts";

export const webhooks = createArea();
const tag = "Webhooks";

webhooks.openapi(
  operation({
    operationId: "listEvents",
    tag,
    method: "get",
    path: "/webhooks/v1/events",
    summary: "Read the event log",
    description:
      "Everything that happened on the site, in one order, without gaps. Poll it with `after`, or catch up here after webhooks were missed. Kept for 30 days unless the deployment says otherwise.",
    credentials: DEVELOPER,
    request: { query: EventQuery },
    responses: { 200: json("Events, the oldest first", EventList) },
  }),
  async (c) => c.json(await readEvents(c.var.ctx, c.req.valid("query")), 200),
);
