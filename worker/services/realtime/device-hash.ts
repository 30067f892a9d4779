import { createHash } from "node:crypto";

/** A device's hash: no object stores the device id, and the hash differs from site to site. */
export function hashOfDevice(siteId: string, deviceId: string): string {
  return createHash("sha256").update(`${siteId}:${deviceId}`).digest("hex").slice(0, 32);
}
