import { Failure } from "#worker/lib/errors.ts";
import { type SharedDeadline, withDeadline, withTimeout } from "#worker/lib/time/with-timeout.ts";

const TIMEOUT_MS = 10_000;
const MAX_BYTES = 256 * 1024;
const NO_CONTENT = 204;
/** How much of a response is kept to say why it failed, and how long that may take. */
const EXCERPT = { chars: 1_000, bytes: 4_000, ms: 1_000 };
const TEXT = /^(?:text\/|application\/(?:[\w.-]+\+)?(?:json|xml|x-www-form-urlencoded)\b)/i;
// Names that internal resolvers may resolve.
const INSIDE = /(^|\.)(localhost|local|localdomain|internal|intranet|private|lan|home|corp|home\.arpa)$/;

/** The response of an external system, with its body read and limited. */
export interface OutsideAnswer {
  status: number;
  headers: Headers;
  text: string;
}

/** Why a URL may not be called, judged by its text alone; undefined if it may. `integrations/public-host.ts` resolves its host. */
export function outboundProblem(env: { TIFO_DEVELOPMENT: string }, url: string): string | undefined {
  const parsed = URL.parse(url);
  if (!parsed) return "Not a URL";
  const { protocol, hostname, username, password } = parsed;
  if (username !== "" || password !== "") return "No credentials in the URL";
  if (env.TIFO_DEVELOPMENT === "true" && isLoopback(hostname) && /^https?:$/.test(protocol)) return undefined;
  if (protocol !== "https:") return "Only https";
  const name = hostname.replace(/\.$/, "");
  // A parsed host that ends in digits or a bracket is an address, however it was written.
  if (/(^|\.)\d+$|\]$/.test(name)) return "A host name, not an address";
  if (!name.includes(".") || INSIDE.test(name)) return "A host that is reachable from the internet";
  return undefined;
}

/**
 * Calls an external system: only https to public hosts, without following redirects, with a timeout (ms) and a size limit (bytes).
 * Throws `unavailable` if that fails; the caller interprets the status, redirects included.
 */
export async function callOut(
  env: { TIFO_DEVELOPMENT: string },
  url: string,
  init: RequestInit = {},
  { timeout = TIMEOUT_MS, maxBytes = MAX_BYTES } = {},
): Promise<OutsideAnswer> {
  const problem = outboundProblem(env, url);
  if (problem !== undefined) throw new Failure("unavailable", `The URL may not be called: ${problem}`);
  try {
    return await withDeadline(timeout, async (signal) => {
      const response = await fetch(url, { ...init, redirect: "manual", signal });
      return { status: response.status, headers: response.headers, text: await readBounded(response, maxBytes) };
    });
  } catch (cause) {
    throw unreached(url, cause);
  }
}

/** The status of a response and, unless it is a success, the beginning of its text. */
export interface OutsideStatus {
  status: number;
  excerpt: string | null;
}

/** Like `callOut`, but reads no more than the status of a success, and the caller has already checked the URL. */
export async function statusOf(url: string, init: RequestInit, deadline: SharedDeadline): Promise<OutsideStatus> {
  try {
    return await deadline.run(async (signal) => {
      const response = await fetch(url, { ...init, redirect: "manual", signal });
      const { status, ok } = response;
      if (!ok) return { status, excerpt: await excerptOf(response) };
      // Accessing the body creates a stream, even for an empty one.
      if (status !== NO_CONTENT) await response.body?.cancel();
      return { status, excerpt: null };
    });
  } catch (cause) {
    throw unreached(url, cause);
  }
}

/** A body has more bytes than its caller reads. */
class TooLarge extends Error {
  override readonly name = "TooLarge";
}

function unreached(url: string, cause: unknown): Failure {
  const problem = cause instanceof TooLarge ? `returned ${cause.message}` : "did not answer as it should";
  return new Failure("unavailable", `${new URL(url).host} ${problem}`, { cause });
}

function isLoopback(hostname: string): boolean {
  return hostname === "localhost" || hostname === "[::1]" || /^127(\.\d+){3}$/.test(hostname);
}

/** The beginning of a body, if it is text; null if there is none. A slow or endless body costs at most a second. */
async function excerptOf(response: Response): Promise<string | null> {
  const body: ReadableStream<Uint8Array> | null = response.body;
  if (!body) return null;
  const type = response.headers.get("Content-Type");
  if (type !== null && !TEXT.test(type)) {
    await body.cancel();
    return null;
  }
  const reader = body.getReader();
  const decoder = new TextDecoder();
  let text = "";
  const read = async (): Promise<void> => {
    for (let size = 0; size < EXCERPT.bytes;) {
      const { done, value } = await reader.read();
      if (done) return;
      size += value.byteLength;
      text += decoder.decode(value, { stream: true });
    }
  };
  try {
    await withTimeout(read(), EXCERPT.ms);
  } catch {
    // The status is known, and what has arrived by now is enough.
  }
  reader.cancel().catch(() => undefined);
  const readable = text.replace(/[^\P{Cc}\n\t]/gu, "").slice(0, EXCERPT.chars);
  return readable === "" ? null : readable.toWellFormed();
}

async function readBounded(response: Response, maxBytes: number): Promise<string> {
  const decoder = new TextDecoder();
  let text = "";
  let size = 0;
  const body: ReadableStream<Uint8Array> | null = response.body;
  for await (const chunk of body ?? []) {
    size += chunk.byteLength;
    if (size > maxBytes) throw new TooLarge(`more than ${maxBytes / 1024} KiB`);
    text += decoder.decode(chunk, { stream: true });
  }
  return text + decoder.decode();
}
