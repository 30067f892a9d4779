import { z } from "@hono/zod-openapi";
import type { DeviceRow } from "#db/schema/devices.ts";
import { Id, Time } from "#worker/lib/schemas/common.ts";

const DeviceId = z.string().min(1).max(200).openapi({ example: "living-room-tv" });
const Description = z.string().describe("The device's User-Agent");

export const Device = z
  .object({
    _id: Id,
    deviceId: DeviceId,
    description: Description,
    created: Time.describe("When it took its slot, in milliseconds since 1970 UTC"),
  })
  .openapi("Device");

export const DeviceParam = z.object({ deviceId: DeviceId });

export function toDevice(row: DeviceRow) {
  return { _id: row.id, deviceId: row.deviceId, description: row.description, created: row.created } satisfies z.output<typeof Device>;
}
