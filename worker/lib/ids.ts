/** A Tifo id: 24 lowercase hex characters, of which the first 12 are milliseconds since 1970, so ids sort by time. */
export const ID_PATTERN = /^[0-9a-f]{24}$/;

/** Creates an id for the given time (milliseconds); the other 48 bits are random. */
export function newId(now: number): string {
  return now.toString(16).padStart(12, "0") + randomHex(6);
}

/** The time in an id, in milliseconds since 1970 UTC. */
export function timeOf(id: string): number {
  return parseInt(id.slice(0, 12), 16);
}

/** `bytes` random bytes as lowercase hex. */
export function randomHex(bytes: number): string {
  return toHex(crypto.getRandomValues(new Uint8Array(bytes)));
}

export function toHex(bytes: Uint8Array): string {
  return Array.from(bytes, (byte) => byte.toString(16).padStart(2, "0")).join("");
}
