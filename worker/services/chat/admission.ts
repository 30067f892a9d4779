import type { CHAT_MODES } from "#db/enums.ts";

/** Sustained messages per second of an account and of a room, and how many may come at once. */
export const ACCOUNT_RATE = { perSecond: 1, burst: 5 };
export const REACTION_RATE = { perSecond: 2, burst: 10 };
export const ROOM_RATE = { perSecond: 400, burst: 400 };

/** A token bucket: `tokens` as of `at` (ms). */
export interface Bucket {
  tokens: number;
  at: number;
}

/** Takes a token; returns the bucket afterwards, and how many seconds to wait if there was none. */
export function takeToken(
  bucket: Bucket | undefined,
  rate: { perSecond: number; burst: number },
  now: number,
): { bucket: Bucket; wait: number } {
  const { tokens, at } = bucket ?? { tokens: rate.burst, at: now };
  const filled = Math.min(rate.burst, tokens + (Math.max(0, now - at) / 1000) * rate.perSecond);
  if (filled >= 1) return { bucket: { tokens: filled - 1, at: now }, wait: 0 };
  return { bucket: { tokens: filled, at: now }, wait: Math.ceil((1 - filled) / rate.perSecond) };
}

export interface Ban {
  /** Milliseconds since 1970 UTC; null: until it is lifted. */
  until: number | null;
  reason: string;
}

/** Whether a ban or mute is in force. */
export function inForce(ban: Pick<Ban, "until"> | undefined, now: number): boolean {
  return ban !== undefined && (ban.until === null || ban.until > now);
}

/** The ban in force of a device, by its hash; undefined for a connection that names none. */
export function deviceBan(devices: ReadonlyMap<string, Ban>, device: string | null | undefined, now: number): Ban | undefined {
  const ban = device ? devices.get(device) : undefined;
  return inForce(ban, now) ? ban : undefined;
}

/** What the room's rules say about a sender. */
export interface Sender {
  /** Moderators and admins, who are exempt from everything but bans and rate limits. */
  isExempt: boolean;
  /** Whether it holds one of the room's skus. */
  isMember: boolean;
  banned: Ban | undefined;
  /** When it last sent a message, ms. */
  lastSentAt: number | undefined;
}

export interface RoomRules {
  mode: (typeof CHAT_MODES)[number];
  slowSeconds: number;
}

export type RejectionCode = "chat_banned" | "chat_slow_mode" | "chat_paused" | "chat_members_only";

export interface Rejection {
  code: RejectionCode;
  message: string;
  /** Seconds after which the sender may send again, if known. */
  retryAfter?: number;
}

/** Why the room doesn't accept a message from this sender now; undefined if it does. */
export function rejectionOf(sender: Sender, { mode, slowSeconds }: RoomRules, now: number): Rejection | undefined {
  if (inForce(sender.banned, now)) return { code: "chat_banned", message: "You may not send messages in this chat" };
  if (sender.isExempt) return undefined;
  const wait = slowSeconds * 1000 - (now - (sender.lastSentAt ?? -Infinity));
  if (wait > 0) {
    const retryAfter = Math.ceil(wait / 1000);
    return { code: "chat_slow_mode", message: `Slow mode: send the next message in ${retryAfter} s`, retryAfter };
  }
  if (mode === "paused") return { code: "chat_paused", message: "The chat is paused" };
  if (mode === "members" && !sender.isMember) return { code: "chat_members_only", message: "Only members may send messages in this chat" };
  return undefined;
}
