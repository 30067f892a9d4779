import { env } from "cloudflare:workers";
import { createDb } from "#db/client.ts";
import { newId } from "#worker/lib/ids.ts";
import type { Ctx } from "#worker/services/core/context.ts";
import { systemCtx } from "#worker/services/core/system.ts";
import type { TestAccount } from "./harness.ts";
import { siteStore } from "#test/site-store.ts";

/** The context of a request by this account, for tests that go through a response piece by piece. */
export function ctxOf(siteId: string, { id, roles }: TestAccount): Ctx {
  const now = Date.now();
  const ctx = systemCtx({ env, db: createDb(siteStore), now }, siteId, `test-${newId(now)}`);
  return { ...ctx, caller: async () => ({ kind: "account", id, sessionId: "", roles, tags: [] }) };
}

/** The pieces that are left of a response. */
export async function allOf(pieces: AsyncGenerator<string, void>): Promise<string[]> {
  const all: string[] = [];
  for await (const piece of pieces) all.push(piece);
  return all;
}
