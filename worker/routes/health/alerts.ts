import { createArea } from "#worker/http/area.ts";
import { SUPER } from "#worker/http/credentials.ts";
import { operation } from "#worker/http/operation.ts";
import { json } from "#worker/lib/schemas/common.ts";
import { AlertAttempt, AlertReport } from "#worker/services/operations/alert-schemas.ts";
import { getAlerts, testAlerts } from "#worker/services/operations/alerts.ts";

export const alerts = createArea();

const tag = "Health";

alerts.openapi(
  operation({
    operationId: "getAlerts",
    tag,
    method: "get",
    path: "/ops/alerts",
    summary: "Get the alerts",
    description: "Returns the operator's alerts with their figures, limits and states, and the secret that signs the webhook's calls.",
    access: { credentials: SUPER },
    request: {},
    responses: { 200: json("The alerts", AlertReport) },
  }),
  async (c) => c.json(await getAlerts(c.get("ctx")), 200),
);

alerts.openapi(
  operation({
    operationId: "testAlerts",
    tag,
    method: "post",
    path: "/ops/alerts/test",
    summary: "Test the alerts",
    description: "Calls the webhook of `TIFO_ALERT_URL` with an `alert.test`, emails `TIFO_ALERT_EMAIL`, and returns the outcome.",
    access: { credentials: SUPER },
    request: {},
    responses: { 200: json("The attempt", AlertAttempt) },
  }),
  async (c) => c.json(await testAlerts(c.get("ctx")), 200),
);
