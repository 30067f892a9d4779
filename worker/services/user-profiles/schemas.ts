import { z } from "@hono/zod-openapi";
import type { UserProfileRow } from "#db/schema/accounts.ts";
import { Id, Tracked } from "#worker/lib/schemas/common.ts";

export const UserProfile = z.object({ _id: Id, accountId: Id, name: z.string(), ...Tracked }).openapi("UserProfile");

export function toUserProfile(row: UserProfileRow) {
  return {
    _id: row.id,
    accountId: row.accountId,
    name: row.name,
    created: row.created,
    modified: row.modified,
  } satisfies z.output<typeof UserProfile>;
}
