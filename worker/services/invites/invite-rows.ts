import type { InviteRow } from "#db/schema/invites.ts";

/** An invite with its decrypted token, to be handed out. */
export type Invite = InviteRow & { token: string };
