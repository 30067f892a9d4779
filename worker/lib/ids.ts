/** A Tifo id: 24 lowercase hex characters, of which the first 12 are milliseconds since 1970, so ids sort by time. */
export const ID_PATTERN = /^[0-9a-f]{24}$/;

/** Creates an id for the given time (milliseconds); the other 48 bits are random. */
export function newId(now: number): string {
  return now.toString(16).padStart(12, "0") + randomHex(6);
}

// The id of a site that was created as a sandbox has this after its time, so that all other sites need no lookup.
const SANDBOX_MARK = "5a4db0";

/** Creates the id of a site that is created as a sandbox; the other 24 bits are random. */
export function newSandboxId(now: number): string {
  return now.toString(16).padStart(12, "0") + SANDBOX_MARK + randomHex(3);
}

/** Whether a site may be a sandbox: it was created as one, or its random bits happen to be the mark. */
export function mayBeSandbox(siteId: string): boolean {
  return siteId.startsWith(SANDBOX_MARK, 12);
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
