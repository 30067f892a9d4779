import type { Context } from "hono";
import { bodyLimit } from "hono/body-limit";
import { Failure } from "#worker/lib/errors.ts";
import { wellFormedJson } from "#worker/lib/well-formed.ts";
import type { AppEnv, Step } from "#worker/http/app-env.ts";
import { confirmCaller } from "./confirm-caller.ts";

/** Rejects a body of more bytes with a 413, once the caller is confirmed. */
export function limitBody(maxBytes: number): Step {
  const limitStream = bodyLimit({
    maxSize: maxBytes,
    onError: async (c: Context<AppEnv>) => {
      await confirmCaller(c);
      throw tooLarge(maxBytes);
    },
  });
  return (c, next) => {
    const length = c.req.header("Content-Length");
    // The length first: reading `body` creates a stream.
    if ((length !== undefined && Number(length) <= maxBytes) || c.req.raw.body === null) return next();
    return limitStream(c, next).then(() => undefined);
  };
}

/** Some clients send a Content-Type without a body; it is removed, so that nothing parses an empty body as JSON. */
export const dropEmptyBody: Step = async (c, next) => {
  if (c.req.header("Content-Type") !== undefined && (await c.req.text()) === "") {
    const headers = new Headers(c.req.raw.headers);
    headers.delete("Content-Type");
    c.req.raw = new Request(c.req.raw.url, { method: c.req.raw.method, headers });
  }
  await next();
};

/** Declares a text to be JSON; whether it is, the validation finds out. */
export const readTextAsJson: Step = (c, next) => {
  if (c.req.header("Content-Type")?.toLowerCase().startsWith("text/plain")) {
    const headers = new Headers(c.req.raw.headers);
    headers.set("Content-Type", "application/json");
    c.req.raw = new Request(c.req.raw, { headers });
  }
  return next();
};

/** Replaces half characters in a JSON body, which strict clients couldn't read where it is repeated to them. */
export const repairJson: Step = async (c, next) => {
  if (c.req.header("Content-Type")?.includes("json")) {
    const text = await c.req.text();
    const repaired = wellFormedJson(text);
    if (repaired !== text) {
      const { url, method, headers } = c.req.raw;
      c.req.raw = new Request(url, { method, headers, body: repaired });
      c.req.bodyCache = {};
    }
  }
  await next();
};

/** Reads the whole body, up to a size, before anything else does; later readers get the buffered copy. */
export async function bufferBody(c: Context<AppEnv>, maxBytes: number): Promise<void> {
  const { body, url, method, headers } = c.req.raw;
  if (!body) return;
  const chunks: Uint8Array<ArrayBuffer>[] = [];
  let size = 0;
  for await (const chunk of body) {
    if (!(chunk instanceof Uint8Array)) continue;
    size += chunk.byteLength;
    if (size > maxBytes) throw tooLarge(maxBytes);
    chunks.push(chunk.slice());
  }
  c.req.raw = new Request(url, { method, headers, body: new Blob(chunks) });
}

function tooLarge(maxBytes: number): Failure {
  return new Failure("payload_too_large", `The body may have at most ${maxBytes} bytes`);
}
