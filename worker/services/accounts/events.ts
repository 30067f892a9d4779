import { z } from "@hono/zod-openapi";
import { PASSWORD_KINDS } from "#db/enums.ts";
import { Id, Tags } from "#worker/lib/schemas/common.ts";
import { eventsOf } from "#worker/services/event-catalogue/event-kind.ts";
import { DAY, SAMPLE_IDS, SAMPLE_MOMENT } from "#worker/services/event-catalogue/sample-ids.ts";
import { Account } from "./schemas.ts";

const ids = {
  globalAccount: "5eed0000000000000e00a009",
  emailProof: "5eed0000000000000e007501",
  passwordReset: "5eed0000000000000e007201",
};

const OfAccount = z.object({ _id: Id, siteId: Id });
const Kind = z.enum(PASSWORD_KINDS).describe("`site`: the account's own password; `global`: that of its global account");
const Mailed = z.object({ _id: Id.describe("The id of the mailed token; no event contains the token itself"), siteId: Id, accountId: Id });
const account = { resource: "account/_id" };

// SHA-256 of the sample viewer's email address.
const EMAIL_HASH = "27ee3d0b549d3fa5e90acf647a0fbcfe646e863b2309919f2e331c77a75d72a6";

export const events = eventsOf(
  {
    services: ["account-service-v3"],
    ids,
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
          leaderboardHidden: false,
          roles: [],
          subscriptions: ["season-pass"],
          tags: ["team:home"],
        },
      ],
      [/^new_account$/, { created: SAMPLE_MOMENT, lastLogin: null, subscriptions: [], tags: [], emailVerified: false }],
      [/^account\.globalAccountLinked$/, { globalAccountID: ids.globalAccount }],
      [/^account\.(emailVerification|globalAccount)Requested$/, { _id: ids.emailProof }],
      [/^account\.rolesUpdated$/, { roles: [{ scope: "*", pageId: [SAMPLE_IDS.page], write: true }] }],
      [/^account\.tagsAdded$/, { accounts: [{ _id: SAMPLE_IDS.viewer, tags: ["team:home", "tier:gold"] }] }],
      [/^account\.passwordResetRequested$/, { _id: ids.passwordReset }],
    ],
  },
  {
    "account.credentialsVoided": {
      data: OfAccount.extend({ resetId: Id.nullable().describe("The password reset whose link is mailed; null if none is") }),
      description: "An account's credentials were voided because its address was unverified",
    },
    "account.deleted": { data: OfAccount, description: "An account and its personal data were deleted" },
    "account.emailVerificationRequested": {
      data: Mailed,
      description: "A verification email for an account's address was requested",
      resource: "email-proof/_id",
    },
    "account.emailVerified": {
      data: OfAccount.extend({ by: z.enum(["mail", "reset", "invite", "partner"]).describe("How the address was verified") }),
      description: "An account's address was verified",
    },
    "account.globalAccountLinked": {
      data: OfAccount.extend({ globalAccountID: Id }),
      description: "A person linked an account to their global account",
    },
    "account.globalAccountRequested": {
      data: Mailed,
      description: "An admin requested a global account",
      resource: "email-proof/_id",
    },
    "account.passwordChanged": { data: OfAccount.extend({ kind: Kind }), description: "An account's password changed" },
    "account.passwordResetRequested": {
      data: z.object({ _id: Id.describe("The id of the reset"), siteId: Id, accountId: Id, kind: Kind }),
      description: "A password reset was requested",
      resource: "password-reset/_id",
    },
    "account.rolesUpdated": { data: Account, description: "An account's roles changed", ...account },
    "account.tagsAdded": {
      data: z.object({ siteId: Id, accounts: z.array(z.object({ _id: Id, tags: Tags })) }),
      description: "Tags were added to accounts in bulk",
      resource: "site/siteId",
    },
    "account.tagsUpdated": { data: Account, description: "An account's tags changed", ...account },
    "account.updated": { data: Account, description: "An account was updated", ...account },
    new_account: { data: Account, description: "An account was created", ...account },
  },
);
