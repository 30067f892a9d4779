import { z } from "@hono/zod-openapi";
import { SESSION_ENDS, SIGN_IN_FAILURES } from "#db/enums.ts";
import { Id, Time } from "#worker/lib/schemas/common.ts";
import { eventsOf, type SampleValues } from "#worker/services/event-catalogue/event-kind.ts";
import { MINUTE, SAMPLE_IDS, SAMPLE_MOMENT } from "#worker/services/event-catalogue/sample-ids.ts";

const ids = { intent: "5eed0000000000000e007101", session: "5eed0000000000000e005e01" };

const OfAccount = z.object({ _id: Id, siteId: Id });
const Intent = z.object({ _id: Id, kind: z.string(), accountId: Id });

const samples: SampleValues = [
  [/^account\./, { _id: SAMPLE_IDS.viewer }],
  [/^account\.sessionEnded$/, { sessionId: ids.session, reason: "signedOut" }],
  [
    /^account\.signInFailed$/,
    { address: "203.0.113.9", reason: "password", attempts: 3, minute: SAMPLE_MOMENT - (SAMPLE_MOMENT % MINUTE) - MINUTE },
  ],
  [/^auth\.intent/, { _id: ids.intent, kind: "partner" }],
];

export const events = {
  ...eventsOf(
    { services: ["account-service-v3"], ids, samples },
    {
      "account.sessionEnded": {
        data: OfAccount.extend({ sessionId: Id, reason: z.enum(SESSION_ENDS) }),
        description:
          "A session of an account ended: by signing out, because a refresh token was reused, or because another session enabled an authenticator app",
      },
      "account.recoveryCodeUsed": {
        data: OfAccount,
        description: "A recovery code was used instead of the authenticator app",
      },
      "account.signInFailed": {
        data: OfAccount.extend({
          address: z.string().describe("An IPv4 address, or the /64 network of an IPv6 address"),
          reason: z.enum(SIGN_IN_FAILURES).describe("`password`, or `code` if the password was correct but the one-time code wasn't"),
          attempts: z.number().int().describe("The number of failed attempts within the minute"),
          minute: Time.describe("The start of the minute"),
        }),
        description: "Sign-ins to an account failed; one event per address and minute, emitted within two minutes",
      },
      "account.totpDisabled": { data: OfAccount, description: "An account's authenticator app was disabled" },
      "account.totpEnabled": { data: OfAccount, description: "An account's authenticator app was enabled" },
    },
  ),
  ...eventsOf(
    { services: ["auth-service-v2"], ids, samples },
    {
      "auth.intentConsumed": { data: Intent, description: "A sign-in intent was consumed", resource: "intent/_id" },
      "auth.intentCreated": { data: Intent, description: "A sign-in intent was created for a partner's account", resource: "intent/_id" },
    },
  ),
};
