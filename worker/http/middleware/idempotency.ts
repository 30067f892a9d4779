import type { Context, Next } from "hono";
import { sha256 } from "#worker/lib/crypto/crypto.ts";
import { invalid } from "#worker/lib/errors.ts";
import { toHex } from "#worker/lib/ids.ts";
import type { Actor } from "#worker/services/core/context.ts";
import { claimKey, storeResponse, type StoredResponse, releaseKey } from "#worker/services/core/idempotency.ts";
import type { AppEnv, Step } from "#worker/http/app-env.ts";
import { callerAddress } from "#worker/http/limits.ts";
import type { OperationPolicy } from "#worker/http/operation-policy.ts";

const STORED_HEADERS = ["Content-Type", "ETag", "Location"];
// Responses to requests that never ran: the key can be reused.
const NOT_STORED = new Set([400, 401, 403, 413, 415, 429]);

/** Runs a request with an Idempotency-Key once per caller and operation; a retry gets the first response. */
export function idempotency({ operationId, retries }: OperationPolicy): Step {
  const replay = async (c: Context<AppEnv>, key: string, next: Next): Promise<void> => {
    const ctx = c.get("ctx");
    const actor = await ctx.caller();
    if (!/^[\x21-\x7e]{1,255}$/.test(key)) throw invalid("Idempotency-Key", "1 to 255 printable characters without spaces");
    const content = await crypto.subtle.digest("SHA-256", contentOf(c, await c.req.arrayBuffer()));
    const fingerprint = await sha256(`${c.req.method} ${c.req.url}\n${toHex(new Uint8Array(content))}`);
    const owner = retries.keyOwner === "body" ? fingerprint : callerName(c, actor);
    const id = await sha256([ctx.siteId, owner, operationId, key].join("\n"));
    const stored = await claimKey(ctx, id, fingerprint);
    if (stored && retries.replay === "receipt") {
      ctx.receipt = stored.body;
      await next();
      c.header("Idempotent-Replayed", "true");
      return;
    }
    if (stored) {
      c.res = new Response(stored.body || null, { status: stored.status, headers: { ...stored.headers, "Idempotent-Replayed": "true" } });
      return;
    }
    ctx.idempotencyId = id;
    await next();
    // Hono has already turned a thrown error into a response.
    if (c.res.status >= 500 || NOT_STORED.has(c.res.status)) await releaseKey(ctx, id);
    else await storeResponse(ctx, id, retries.replay === "none" ? undefined : await readAnswer(c.res, ctx.receipt));
  };
  return (c, next) => {
    const key = c.req.header("Idempotency-Key");
    return key === undefined ? next() : replay(c, key, next);
  };
}

/** The content of a body, without the boundary of a form, which differs each time the same form is sent. */
function contentOf(c: Context<AppEnv>, body: ArrayBuffer): Uint8Array<ArrayBuffer> {
  const boundary = /^multipart\/form-data;.*boundary="?([^";]+)/i.exec(c.req.header("Content-Type") ?? "")?.[1];
  const bytes = new Uint8Array(body);
  return boundary === undefined ? bytes : bytes.subarray(`--${boundary}`.length, -`--${boundary}--\r\n`.length);
}

/** The response, with its body replaced by the receipt if it can be rebuilt from that. */
async function readAnswer(response: Response, receipt: string | undefined): Promise<StoredResponse> {
  const headers: Record<string, string> = {};
  for (const name of STORED_HEADERS) {
    const value = response.headers.get(name);
    if (value !== null) headers[name] = value;
  }
  return { status: response.status, headers, body: receipt ?? (await response.clone().text()) };
}

/** Identifies the caller that a key belongs to; anonymous callers by device or address. */
function callerName(c: Context<AppEnv>, actor: Actor): string {
  if (actor.kind === "anonymous") return `${actor.kind}:${c.get("ctx").deviceId ?? callerAddress(c)}`;
  return "id" in actor ? `${actor.kind}:${actor.id}` : actor.kind;
}
