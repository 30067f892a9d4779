import { z } from "@hono/zod-openapi";
import { Time } from "#worker/lib/schemas/common.ts";
import { ALERT_NAMES } from "./alert-rules.ts";

const Value = z.number().nonnegative();

/** What a call of the operator's webhook says of an alert. */
export const AlertData = z.object({
  name: z.string(),
  unit: z.string(),
  value: Value,
  limit: Value,
  since: Time,
  runbook: z.string().describe("Path of the guide's section that says what to do for each alert"),
});

export const AlertReport = z
  .object({
    url: z.string().nullable().describe("`TIFO_ALERT_URL`; null: no webhook is called"),
    email: z.string().nullable().describe("`TIFO_ALERT_EMAIL`; null: nobody gets an email"),
    signingSecret: z.string().describe("Verifies the calls, like a webhook's. Derived from `TIFO_SECRET`"),
    alerts: z.array(
      z.object({
        name: z.enum(ALERT_NAMES),
        unit: z.string(),
        value: Value.describe("The figure now"),
        limit: Value.nullable().describe("Null if the alert is off"),
        isRaised: z.boolean(),
        changed: Time.nullable().describe("When it was last raised or resolved"),
        isSent: z.boolean().describe("Whether the webhook has accepted the last change; if not, it is called again each minute"),
        problem: z.string().nullable().describe("Why it hasn't"),
        isEmailed: z
          .boolean()
          .describe("Whether the last change has been emailed or can't be; if not, the email is sent again each minute"),
        emailProblem: z.string().nullable().describe("Why it hasn't been emailed"),
      }),
    ),
  })
  .openapi("AlertReport");

export const AlertAttempt = z
  .object({
    delivered: z.boolean(),
    status: z.number().int().nullable().describe("The status of the response; null if there was none"),
    error: z.string().nullable(),
    duration: z.number().nonnegative().describe("Milliseconds"),
    email: z
      .object({ delivered: z.boolean(), error: z.string().nullable() })
      .nullable()
      .describe("The outcome of the email; null without `TIFO_ALERT_EMAIL`"),
  })
  .openapi("AlertAttempt");
