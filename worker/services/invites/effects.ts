import type { Effects } from "#worker/services/event-catalogue/effect.ts";
import { mailRegisterInvite } from "./register-invites.ts";

export const effects: Effects = {
  "invite.registerCreated": mailRegisterInvite,
};
