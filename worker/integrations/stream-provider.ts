import { z } from "@hono/zod-openapi";
import { Failure } from "#worker/lib/errors.ts";
import type { PlaybackSettings } from "#db/types.ts";
import { parseJson } from "#worker/lib/json.ts";
import { outboundProblem } from "#worker/lib/network/outbound.ts";
import { PlaybackSettings as Playback, playbackUrlProblem } from "#worker/lib/schemas/playback-settings.ts";
import { callPublic } from "./public-host.ts";

const TIMEOUT_MS = 10_000;
const MAX_BYTES = 16 * 1024;
const ATTEMPTS = 2;

/** One of the four calls: which URL, shown what, about which stream. */
export interface ProviderRequest {
  url: string;
  authorization: string;
  stream: { streamId: string; title: string; siteId: string };
}

/** What came of a call; `status` is that of a refusal, undefined where nothing usable came back and the call may have worked. */
export type ProviderOutcome = { ok: true; text: string } | { ok: false; status: number | undefined; reason: string };

/** What a provider says of a stream that it made. */
export interface ProviderStream {
  providerStreamId: string;
  ingestUrl: string;
  playbackUrl: string;
  streamKey: string;
  /** How the playback URL is signed. */
  playback: PlaybackSettings | null;
}

const Text = z.string().min(1).max(500);
const Made = z.object({
  providerStreamId: Text,
  ingestUrl: z.url({ protocol: /^(rtmps?|srt|https?)$/ }).max(2000),
  playbackUrl: z.url({ protocol: /^https?$/ }).max(2000),
  streamKey: Text,
  playback: Playback.nullable().default(null),
});
const Acknowledged = z.object({ providerStreamId: Text.optional() });

/**
 * Calls a stream provider: `POST { streamId, title, siteId }` with its bearer. Every call names its stream in `Tifo-Stream-Id`, by which
 * the provider knows one that it has had, so that a call without an answer, or with a 5xx, is made once more.
 */
export async function callProvider(env: Env, request: ProviderRequest): Promise<ProviderOutcome> {
  let outcome = await attempt(env, request);
  for (let made = 1; made < ATTEMPTS && !outcome.ok && outcome.status === undefined; made++) outcome = await attempt(env, request);
  return outcome;
}

async function attempt(env: Env, { url, authorization, stream }: ProviderRequest): Promise<ProviderOutcome> {
  const headers = { Authorization: `Bearer ${authorization}`, "Content-Type": "application/json", "Tifo-Stream-Id": stream.streamId };
  const init = { method: "POST", headers, body: JSON.stringify(stream) };
  try {
    const { status, text } = await callPublic(env, url, init, { timeout: TIMEOUT_MS, maxBytes: MAX_BYTES });
    if (status >= 200 && status < 300) return { ok: true, text };
    return { ok: false, status: status >= 500 ? undefined : status, reason: `It answered ${status}` };
  } catch (error) {
    if (error instanceof Failure) return { ok: false, status: undefined, reason: error.message };
    throw error;
  }
}

/** Reads the answer to a create; undefined when it isn't one. Viewers load the playback URL, so it must be as public as any URL that we call. */
export function readMade(env: Env, text: string): ProviderStream | undefined {
  const made = Made.safeParse(parseJson(text)).data;
  if (!made || outboundProblem(env, made.playbackUrl) !== undefined) return undefined;
  return made.playback && playbackUrlProblem(made.playback, made.playbackUrl) !== undefined ? undefined : made;
}

/** Whether an answer to a start, stop or delete is one: nothing at all, or an object, of this stream if it names one. */
export function isAcknowledged(text: string, providerStreamId: string): boolean {
  if (text.trim() === "") return true;
  const answer = Acknowledged.safeParse(parseJson(text));
  return answer.success && (answer.data.providerStreamId ?? providerStreamId) === providerStreamId;
}
