import type { CAN_I_PLAY_ERRORS, PLAY_ACCESS } from "#db/enums.ts";
import type { PageGate, PageSchedule } from "#db/types.ts";

/** The input of the playback decision. */
export interface PlaybackRequest {
  /** Milliseconds since 1970 UTC, like all times here. */
  now: number;
  gate: PageGate;
  schedule: PageSchedule | undefined;
  /** Countries where the page may be watched; empty means everywhere. */
  regions: string[];
  /** The viewer's country, if known. */
  country: string | undefined;
  /** The channel's stream; undefined if the channel has none. */
  stream: { isLive: boolean; liveSince: number | null } | undefined;
  /** The video itself requires one of these skus; if empty, only the page's gate applies. */
  videoSkus: string[];
  signedIn: boolean;
  /** Whether the viewer manages the page. */
  manages: boolean;
  /** Skus of the viewer's entitlements, and of the login codes they have redeemed. */
  heldSkus: string[];
  loginSkus: string[];
  /** Seconds of preview that the gate's skus and the video's skus allow, and that the viewer has used. */
  preview: { gate: number; video: number; used: number };
  /** The account's device slots: whether this device has one, how many are taken, and how many there are. */
  devices: { hasSlot: boolean; taken: number; limit: number };
}

export interface PlayError {
  type: (typeof CAN_I_PLAY_ERRORS)[number];
  message: string;
}

export interface PlaybackDecision {
  /** `preview_over` with every error, so that a client that reads only this field doesn't play. */
  access: (typeof PLAY_ACCESS)[number];
  live: boolean;
  /** Seconds since the live programme started; 0 if nothing is live. */
  offset: number;
  /** Null with full access. */
  previewTimeRemainingSeconds: number | null;
  userHasChannelGateEntitlement: boolean;
  userHasVideoEntitlement: boolean;
  accountOverDeviceLimit: boolean;
  error: PlayError | null;
}

/** Which gates the viewer passes. */
interface Passed {
  gate: boolean;
  video: boolean;
}

/** Decides whether a viewer may play a page now. If not, the error names the first rule that denies it and what would unlock it. */
export function canIPlay(request: PlaybackRequest): PlaybackDecision {
  const passed: Passed = { gate: passesGate(request), video: passesVideo(request) };
  const paid = passed.gate && passed.video;
  const remaining = paid ? 0 : previewLeft(request, passed);
  const accountOverDeviceLimit = request.signedIn && !request.devices.hasSlot && request.devices.taken >= request.devices.limit;
  const error =
    regionError(request) ??
    scheduleError(request) ??
    (paid || remaining > 0 ? null : gateError(request, passed)) ??
    (accountOverDeviceLimit ? deviceError(request.devices.limit) : null);
  const access = error ? "preview_over" : paid ? "full" : "preview";
  return {
    access,
    live: isLive(request),
    offset: offsetOf(request),
    previewTimeRemainingSeconds: access === "full" ? null : access === "preview" ? remaining : 0,
    userHasChannelGateEntitlement: passed.gate,
    userHasVideoEntitlement: passed.video,
    accountOverDeviceLimit,
    error,
  };
}

function passesGate({ gate: { type, skus }, signedIn, manages, heldSkus, loginSkus }: PlaybackRequest): boolean {
  if (manages || type === "none") return true;
  if (type === "login") return signedIn && (skus.length === 0 || overlap(skus, loginSkus));
  return overlap(skus, heldSkus);
}

function passesVideo({ videoSkus, manages, heldSkus }: PlaybackRequest): boolean {
  return manages || videoSkus.length === 0 || overlap(videoSkus, heldSkus);
}

function previewLeft(request: PlaybackRequest, passed: Passed): number {
  return Math.max(0, previewAllowed(request, passed) - request.preview.used);
}

/** Seconds of preview that every closed gate allows. A login gate allows none, because login codes are not sold. */
function previewAllowed({ gate, preview }: PlaybackRequest, passed: Passed): number {
  const byGate = gate.type === "entitlement" ? preview.gate : 0;
  return Math.min(passed.gate ? Infinity : byGate, passed.video ? Infinity : preview.video);
}

function regionError({ regions, country }: PlaybackRequest): PlayError | null {
  if (regions.length === 0 || (country !== undefined && regions.includes(country))) return null;
  return { type: "region", message: `Only available in ${regions.join(", ")}` };
}

/** A live stream may be watched beyond the end of its schedule, for example in extra time. */
function scheduleError({ now, schedule, stream }: PlaybackRequest): PlayError | null {
  if (!schedule) return null;
  if (now < schedule.startTimestamp) return { type: "not_started", message: `This starts at ${iso(schedule.startTimestamp)}` };
  if (now < schedule.endTimestamp || stream?.isLive) return null;
  return { type: "ended", message: `This ended at ${iso(schedule.endTimestamp)}` };
}

function gateError(request: PlaybackRequest, passed: Passed): PlayError {
  const { gate, videoSkus, signedIn } = request;
  const requiresLogin = !passed.gate && gate.type === "login";
  const skus = [...new Set([...(passed.gate ? [] : gate.skus), ...(passed.video ? [] : videoSkus)])];
  const key = requiresLogin ? "a login code" : "an entitlement";
  const unlock = skus.length === 0 ? key : `${key} of ${skus.join(" or ")}`;
  const allowed = previewAllowed(request, passed);
  if (allowed > 0) {
    return { type: "preview_over", message: `The preview of ${allowed} seconds is over; ${unlock} unlocks the rest` };
  }
  if (!signedIn)
    return { type: "sign_in_required", message: requiresLogin && skus.length === 0 ? "Sign in to watch" : `Sign in with ${unlock}` };
  return { type: "no_entitlement", message: `The account lacks ${unlock}` };
}

function deviceError(limit: number): PlayError {
  return { type: "device_limit", message: `The account already uses its limit of ${limit} devices; free one of them` };
}

/** Whether the channel's stream is live or, without a stream, its schedule is running. */
export function isLive({ now, schedule, stream }: Pick<PlaybackRequest, "now" | "schedule" | "stream">): boolean {
  if (stream) return stream.isLive;
  return schedule !== undefined && now >= schedule.startTimestamp && now < schedule.endTimestamp;
}

function offsetOf(request: PlaybackRequest): number {
  const { now, schedule, stream } = request;
  const since = (stream ? stream.liveSince : schedule?.startTimestamp) ?? now;
  return isLive(request) ? Math.max(0, Math.floor((now - since) / 1000)) : 0;
}

function overlap(required: string[], held: string[]): boolean {
  return required.some((sku) => held.includes(sku));
}

function iso(moment: number): string {
  return new Date(moment).toISOString();
}
