import type { InviteRow } from "#db/schema/index.ts";

/** An invite with its decrypted token, to be handed out. */
export type Invite = InviteRow & { token: string };
