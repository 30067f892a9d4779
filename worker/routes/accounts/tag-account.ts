import type { Context } from "hono";
import type { AppEnv } from "#worker/http/app-env.ts";
import { tagVersionOf } from "#worker/http/conditional.ts";
import type { AccountRow } from "#db/schema/accounts.ts";

/** Sets an account's ETag, which also covers the parts that sign-ins, purchases and global accounts change without a new version of its row. */
export function tagAccount(c: Context<AppEnv>, account: AccountRow): Promise<void> {
  return tagVersionOf(c, account, JSON.stringify([account.subscriptions, account.lastLogin, account.globalAccountId]));
}
