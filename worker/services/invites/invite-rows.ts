import type { InviteRow } from "#db/schema/index.ts";

/** An invite with its token opened, for those who hand it out. */
export type Invite = InviteRow & { token: string };
