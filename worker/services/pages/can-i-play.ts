import type { CAN_I_PLAY_ERRORS, PLAY_ACCESS } from "#db/enums.ts";
import type { PageGate, PageSchedule } from "#db/types.ts";

/** All that the answer to a viewer follows from. */
export interface Viewing {
  /** Milliseconds since 1970 UTC, as all moments here. */
  now: number;
  gate: PageGate;
  schedule: PageSchedule | undefined;
  /** Countries where the page may be watched; none: everywhere. */
  regions: string[];
  /** Where the viewer is, where that is known. */
  country: string | undefined;
  /** What the channel's encoder sends; undefined where no stream belongs to the channel. */
  stream: { isLive: boolean; liveSince: number | null } | undefined;
  /** Skus of which one is needed for the video itself; none: the page's gate is all. */
  videoSkus: string[];
  signedIn: boolean;
  /** Whether the viewer manages the page. */
  manages: boolean;
  /** Skus of the viewer's entitlements, and of the login codes that the viewer has redeemed. */
  heldSkus: string[];
  loginSkus: string[];
  /** Seconds of preview that the gate's skus and those of the video allow, and that the viewer has seen. */
  preview: { gate: number; video: number; used: number };
  /** Of the account: whether this device has one of the slots, how many are taken, and how many there are. */
  devices: { hasSlot: boolean; taken: number; limit: number };
}

export interface Refusal {
  type: (typeof CAN_I_PLAY_ERRORS)[number];
  message: string;
}

export interface Verdict {
  /** `preview_over` beside every error: whoever reads this alone plays nothing that is refused. */
  access: (typeof PLAY_ACCESS)[number];
  live: boolean;
  /** Seconds since the beginning of what is on; 0 while nothing is. */
  offset: number;
  /** Null with full access, which doesn't run out. */
  previewTimeRemainingSeconds: number | null;
  userHasChannelGateEntitlement: boolean;
  userHasVideoEntitlement: boolean;
  accountOverDeviceLimit: boolean;
  error: Refusal | null;
}

/** Which locks are open to the viewer. */
interface Passed {
  gate: boolean;
  video: boolean;
}

/** Whether a viewer may play a page now and, where not, which rule refuses and what would unlock it. The first rule that refuses is told. */
export function canIPlay(viewing: Viewing): Verdict {
  const passed: Passed = { gate: passesGate(viewing), video: passesVideo(viewing) };
  const paid = passed.gate && passed.video;
  const remaining = paid ? 0 : previewLeft(viewing, passed);
  const accountOverDeviceLimit = viewing.signedIn && !viewing.devices.hasSlot && viewing.devices.taken >= viewing.devices.limit;
  const error =
    wrongPlace(viewing) ??
    wrongTime(viewing) ??
    (paid || remaining > 0 ? null : locked(viewing, passed)) ??
    (accountOverDeviceLimit ? noSlot(viewing.devices.limit) : null);
  const access = error ? "preview_over" : paid ? "full" : "preview";
  return {
    access,
    live: isLive(viewing),
    offset: offsetOf(viewing),
    previewTimeRemainingSeconds: access === "full" ? null : access === "preview" ? remaining : 0,
    userHasChannelGateEntitlement: passed.gate,
    userHasVideoEntitlement: passed.video,
    accountOverDeviceLimit,
    error,
  };
}

function passesGate({ gate: { type, skus }, signedIn, manages, heldSkus, loginSkus }: Viewing): boolean {
  if (manages || type === "none") return true;
  if (type === "login") return signedIn && (skus.length === 0 || overlap(skus, loginSkus));
  return overlap(skus, heldSkus);
}

function passesVideo({ videoSkus, manages, heldSkus }: Viewing): boolean {
  return manages || videoSkus.length === 0 || overlap(videoSkus, heldSkus);
}

function previewLeft(viewing: Viewing, passed: Passed): number {
  return Math.max(0, previewAllowed(viewing, passed) - viewing.preview.used);
}

/** Seconds that every lock which is still closed allows; a login gate none, since what opens it is nothing that is sold. */
function previewAllowed({ gate, preview }: Viewing, passed: Passed): number {
  const byGate = gate.type === "entitlement" ? preview.gate : 0;
  return Math.min(passed.gate ? Infinity : byGate, passed.video ? Infinity : preview.video);
}

function wrongPlace({ regions, country }: Viewing): Refusal | null {
  if (regions.length === 0 || (country !== undefined && regions.includes(country))) return null;
  return { type: "region", message: `This may be watched in ${regions.join(", ")} only` };
}

/** A stream that is on is not over, however long the match goes on. */
function wrongTime({ now, schedule, stream }: Viewing): Refusal | null {
  if (!schedule) return null;
  if (now < schedule.startTimestamp) return { type: "not_started", message: `This starts at ${iso(schedule.startTimestamp)}` };
  if (now < schedule.endTimestamp || stream?.isLive) return null;
  return { type: "ended", message: `This ended at ${iso(schedule.endTimestamp)}` };
}

function locked(viewing: Viewing, passed: Passed): Refusal {
  const { gate, videoSkus, signedIn } = viewing;
  const wantsLogin = !passed.gate && gate.type === "login";
  const skus = [...new Set([...(passed.gate ? [] : gate.skus), ...(passed.video ? [] : videoSkus)])];
  const key = wantsLogin ? "a login code" : "an entitlement";
  const unlock = skus.length === 0 ? key : `${key} of ${skus.join(" or ")}`;
  const allowed = previewAllowed(viewing, passed);
  if (allowed > 0) {
    return { type: "preview_over", message: `The ${allowed} seconds of preview are over; ${unlock} unlocks the rest` };
  }
  if (!signedIn)
    return { type: "sign_in_required", message: wantsLogin && skus.length === 0 ? "Sign in to watch" : `Sign in with ${unlock}` };
  return { type: "no_entitlement", message: `The account lacks ${unlock}` };
}

function noSlot(limit: number): Refusal {
  return { type: "device_limit", message: `The account watches on ${limit} devices already, which is the limit; free one of them` };
}

/** Whether the channel's stream is on or, where no stream belongs to it, its schedule. */
export function isLive({ now, schedule, stream }: Pick<Viewing, "now" | "schedule" | "stream">): boolean {
  if (stream) return stream.isLive;
  return schedule !== undefined && now >= schedule.startTimestamp && now < schedule.endTimestamp;
}

function offsetOf(viewing: Viewing): number {
  const { now, schedule, stream } = viewing;
  const since = (stream ? stream.liveSince : schedule?.startTimestamp) ?? now;
  return isLive(viewing) ? Math.max(0, Math.floor((now - since) / 1000)) : 0;
}

function overlap(wanted: string[], held: string[]): boolean {
  return wanted.some((sku) => held.includes(sku));
}

function iso(moment: number): string {
  return new Date(moment).toISOString();
}
