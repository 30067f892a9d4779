import { Id } from "#worker/lib/schemas/common.ts";
import { eventsOf } from "#worker/services/event-catalogue/event-kind.ts";
import { DAY, MONTH, SAMPLE_IDS, SAMPLE_MOMENT } from "#worker/services/event-catalogue/sample-ids.ts";
import { Invite, RegisterInvite } from "./schemas.ts";

const ids = { invite: "5eed0000000000000e004e01" };

const MagicLink = Invite.omit({ token: true, inviteUrl: true });
const Registration = RegisterInvite.omit({ email: true });

export const events = eventsOf(
  {
    services: ["invite-service-v1"],
    ids,
    samples: [
      [
        /^invite\./,
        {
          _id: ids.invite,
          redirectUri: "https://demo.example/welcome",
          targetSkus: ["season-pass"],
          consumed: false,
          revoked: false,
          accountId: null,
          expiresAt: SAMPLE_MOMENT + MONTH,
          created: SAMPLE_MOMENT - DAY,
        },
      ],
      [/^invite\.(consumed|redeemed)$/, { consumed: true }],
      [/^invite\.redeemed$/, { accountId: SAMPLE_IDS.viewer }],
      [/^invite\.revoked$/, { revoked: true }],
      [
        /^invite\.register/,
        { senderAccountId: SAMPLE_IDS.admin, sent: true, targetRoles: [{ scope: "*", pageId: [SAMPLE_IDS.page], write: true }] },
      ],
      [/^invite\.registerCreated$/, { sent: false }],
      [/^invite\.registerAccepted$/, { accountId: SAMPLE_IDS.viewer }],
      [/^invite\.registerRevoked$/, { revoked: true }],
    ],
  },
  {
    "invite.consumed": { data: MagicLink, description: "A magic link was opened" },
    "invite.created": { data: MagicLink, description: "A magic link was created" },
    "invite.deleted": { data: MagicLink, description: "A magic link was deleted" },
    "invite.redeemed": { data: MagicLink, description: "A magic link was redeemed by a new account" },
    "invite.registerAccepted": { data: Registration.extend({ accountId: Id }), description: "An invitation by email was accepted" },
    "invite.registerCreated": { data: Registration, description: "An invitation by email was created" },
    "invite.registerDeleted": { data: Registration, description: "An invitation by email was deleted" },
    "invite.registerRevoked": { data: Registration, description: "An invitation by email was revoked or replaced by a newer one" },
    "invite.revoked": { data: MagicLink, description: "A magic link was revoked" },
    "invite.updated": { data: MagicLink, description: "A magic link was updated" },
  },
);
