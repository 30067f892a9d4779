import { createArea } from "#worker/http/area.ts";
import { ACCOUNT } from "#worker/http/credentials.ts";
import { listResponse, listOf, listQuery } from "#worker/services/core/list-schemas.ts";
import { operation } from "#worker/http/operation.ts";
import { json } from "#worker/lib/schemas/common.ts";
import { freeDevice, listDevices } from "#worker/services/pages/devices.ts";
import { Device, DeviceParam, toDevice } from "#worker/services/pages/device-schemas.ts";

export const devices = createArea();

const common = { tag: "Pages", access: { credentials: ACCOUNT, accounts: "any" } } as const;

devices.openapi(
  operation({
    ...common,
    operationId: "listDevices",
    method: "get",
    path: "/page/v2/devices",
    summary: "List the caller's devices",
    description: "The devices that the account watches on, in the order in which they took their slots.",
    request: { query: listQuery(["created"], {}) },
    responses: { 200: json("A page of devices", listOf(Device).openapi("DeviceList")) },
  }),
  async (c) => {
    const query = c.req.valid("query");
    return c.json(listResponse(c.req.url, query, await listDevices(c.get("ctx"), query), toDevice), 200);
  },
);

devices.openapi(
  operation({
    ...common,
    operationId: "freeDevice",
    method: "delete",
    path: "/page/v2/devices/{deviceId}",
    summary: "Free a device",
    description: "Releases the device's slot, so that the account can watch on another device.",
    access: { ...common.access, action: "read" },
    request: { params: DeviceParam },
    responses: { 204: { description: "The slot is free" } },
    errors: ["not_found"],
  }),
  async (c) => {
    await freeDevice(c.get("ctx"), c.req.valid("param").deviceId);
    return c.body(null, 204);
  },
);
