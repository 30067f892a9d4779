import type { Context } from "hono";
import { Failure } from "#worker/lib/errors.ts";
import type { AppEnv } from "./app-env.ts";

/** A body that isn't JSON, as it comes in; 415 when it is of another type than the operation declares. */
export async function bodyStream(c: Context<AppEnv>, mediaType: string): Promise<ReadableStream<Uint8Array>> {
  const given = c.req.header("Content-Type")?.split(";", 1)[0]?.trim().toLowerCase();
  if (given !== mediaType) throw new Failure("unsupported_media_type", `Send the body as ${mediaType}`);
  // With an Idempotency-Key the body has been read, to tell one request from another.
  const { body, bodyUsed } = c.req.raw;
  return (bodyUsed ? undefined : body) ?? new Blob([await c.req.text()]).stream();
}
