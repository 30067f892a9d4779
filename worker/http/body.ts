import type { Context } from "hono";
import { Failure } from "#worker/lib/errors.ts";
import type { AppEnv } from "./app-env.ts";

/** The stream of a body that isn't JSON; 415 if its type isn't the one that the operation declares. */
export async function bodyStream(c: Context<AppEnv>, mediaType: string): Promise<ReadableStream<Uint8Array>> {
  const contentType = c.req.header("Content-Type")?.split(";", 1)[0]?.trim().toLowerCase();
  if (contentType !== mediaType) throw new Failure("unsupported_media_type", `Send the body as ${mediaType}`);
  // With an Idempotency-Key the body has already been read for the fingerprint.
  const { body, bodyUsed } = c.req.raw;
  return (bodyUsed ? undefined : body) ?? new Blob([await c.req.text()]).stream();
}
