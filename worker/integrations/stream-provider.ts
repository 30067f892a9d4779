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

/** One of the four calls to a stream provider. */
export interface ProviderRequest {
  url: string;
  authorization: string;
  stream: { streamId: string; title: string; siteId: string };
}

/** The outcome of a call; `status` is that of a rejection, undefined if there was no usable response and the call may have succeeded. */
export type ProviderOutcome = { ok: true; text: string } | { ok: false; status: number | undefined; reason: string };

/** A stream as created by the provider. */
export interface ProviderStream {
  providerStreamId: string;
  ingestUrl: string;
  playbackUrl: string;
  streamKey: string;
  /** How the playback URL is signed. */
  playback: PlaybackSettings | null;
}

const Text = z.string().min(1).max(500);
const CreatedStream = z.object({
  providerStreamId: Text,
  ingestUrl: z.url({ protocol: /^(rtmps?|srt|https?)$/ }).max(2000),
  playbackUrl: z.url({ protocol: /^https?$/ }).max(2000),
  streamKey: Text,
  playback: Playback.nullable().default(null),
});
const Acknowledged = z.object({ providerStreamId: Text.optional() });

/**
 * Calls a stream provider: `POST { streamId, title, siteId }` with its bearer token. `Tifo-Stream-Id` lets the provider recognize repeated
 * calls, so a call without a response or with a 5xx is retried once.
 */
export async function callProvider(env: Env, request: ProviderRequest): Promise<ProviderOutcome> {
  let outcome = await attempt(env, request);
  for (let attempts = 1; attempts < ATTEMPTS && !outcome.ok && outcome.status === undefined; attempts++)
    outcome = await attempt(env, request);
  return outcome;
}

async function attempt(env: Env, { url, authorization, stream }: ProviderRequest): Promise<ProviderOutcome> {
  const headers = { Authorization: `Bearer ${authorization}`, "Content-Type": "application/json", "Tifo-Stream-Id": stream.streamId };
  const init = { method: "POST", headers, body: JSON.stringify(stream) };
  try {
    const { status, text } = await callPublic(env, url, init, { timeout: TIMEOUT_MS, maxBytes: MAX_BYTES });
    if (status >= 200 && status < 300) return { ok: true, text };
    return { ok: false, status: status >= 500 ? undefined : status, reason: `It returned ${status}` };
  } catch (error) {
    if (error instanceof Failure) return { ok: false, status: undefined, reason: error.message };
    throw error;
  }
}

/** Parses the response to a create call; undefined if it is invalid. Viewers load the playback URL, so it must be public. */
export function parseCreatedStream(env: Env, text: string): ProviderStream | undefined {
  const created = CreatedStream.safeParse(parseJson(text)).data;
  if (!created || outboundProblem(env, created.playbackUrl) !== undefined) return undefined;
  return created.playback && playbackUrlProblem(created.playback, created.playbackUrl) !== undefined ? undefined : created;
}

/** Whether a response acknowledges a start, stop or delete: empty, or an object that names no other stream. */
export function isAcknowledged(text: string, providerStreamId: string): boolean {
  if (text.trim() === "") return true;
  const response = Acknowledged.safeParse(parseJson(text));
  return response.success && (response.data.providerStreamId ?? providerStreamId) === providerStreamId;
}
