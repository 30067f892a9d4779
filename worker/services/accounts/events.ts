import { z } from "@hono/zod-openapi";
import { PASSWORD_KINDS } from "#db/enums.ts";
import { Id, Tags } from "#worker/lib/schemas/common.ts";
import { eventsOf } from "#worker/services/event-catalogue/event-kind.ts";
import { DAY, SAMPLE_IDS, SAMPLE_MOMENT } from "#worker/services/event-catalogue/sample-ids.ts";
import { Account } from "./schemas.ts";

const OfAccount = z.object({ _id: Id, siteId: Id });
const Kind = z.enum(PASSWORD_KINDS).describe("`site`: that of the account; `global`: that of the global account to which it belongs");
const Mailed = z.object({ _id: Id.describe("Of the mail's token, which no event holds"), siteId: Id, accountId: Id });
const account = { resource: "account/_id" };

// SHA-256 of the sample viewer's e-mail address.
const EMAIL_HASH = "27ee3d0b549d3fa5e90acf647a0fbcfe646e863b2309919f2e331c77a75d72a6";

export const events = eventsOf(
  {
    services: ["account-service-v3"],
    samples: [
      [
        /^(account\.|new_account)/,
        {
          _id: SAMPLE_IDS.viewer,
          uid: SAMPLE_IDS.viewer,
          email: "viewer@demo.example",
          name: "Vera Viewer",
          normalizedName: "vera viewer",
          hash: EMAIL_HASH,
          globalAccountID: null,
          lastLogin: SAMPLE_MOMENT - DAY,
          marketingOptin: false,
          roles: [],
          subscriptions: ["season-pass"],
          tags: ["team:home"],
        },
      ],
      [/^new_account$/, { created: SAMPLE_MOMENT, lastLogin: null, subscriptions: [], tags: [], emailVerified: false }],
      [/^account\.globalAccountLinked$/, { globalAccountID: SAMPLE_IDS.globalAccount }],
      [/^account\.(emailVerification|globalAccount)Requested$/, { _id: SAMPLE_IDS["email-proof"] }],
      [/^account\.rolesUpdated$/, { roles: [{ scope: "*", pageId: [SAMPLE_IDS.page], write: true }] }],
      [/^account\.tagsAdded$/, { accounts: [{ _id: SAMPLE_IDS.viewer, tags: ["team:home", "tier:gold"] }] }],
      [/^account\.passwordResetRequested$/, { _id: SAMPLE_IDS["password-reset"] }],
    ],
  },
  {
    "account.credentialsVoided": {
      data: OfAccount.extend({ resetId: Id.nullable().describe("Of the password reset whose link is mailed; null: none") }),
      description: "What signed an account in is void, since nobody had verified its address",
    },
    "account.deleted": { data: OfAccount, description: "An account was deleted, and what was known of the person" },
    "account.emailVerificationRequested": {
      data: Mailed,
      description: "An account's address is to be verified by mail",
      resource: "email-proof/_id",
    },
    "account.emailVerified": {
      data: OfAccount.extend({ by: z.enum(["mail", "reset", "invite", "partner"]).describe("What proved it") }),
      description: "A person proved that an account's address is theirs",
    },
    "account.globalAccountLinked": {
      data: OfAccount.extend({ globalAccountID: Id }),
      description: "A person linked an account to their global account",
    },
    "account.globalAccountRequested": {
      data: Mailed,
      description: "An admin asked for a global account",
      resource: "email-proof/_id",
    },
    "account.passwordChanged": { data: OfAccount.extend({ kind: Kind }), description: "An account has a new password" },
    "account.passwordResetRequested": {
      data: z.object({ _id: Id.describe("Of the reset"), siteId: Id, accountId: Id, kind: Kind }),
      description: "Somebody asked for a password reset",
      resource: "password-reset/_id",
    },
    "account.rolesUpdated": { data: Account, description: "An account has other roles", ...account },
    "account.tagsAdded": {
      data: z.object({ siteId: Id, accounts: z.array(z.object({ _id: Id, tags: Tags })) }),
      description: "Tags were added to accounts in bulk",
      resource: "site/siteId",
    },
    "account.tagsUpdated": { data: Account, description: "An account has other tags", ...account },
    "account.updated": { data: Account, description: "An account changed", ...account },
    new_account: { data: Account, description: "An account was made", ...account },
  },
);
