import { and, asc, count, eq, type SQL, sql } from "drizzle-orm";
import type { BatchItem } from "drizzle-orm/batch";
import type { Db } from "#db/client.ts";
import type { Bound } from "#db/prepared.ts";
import { type DeviceRow, devices } from "#db/schema/devices.ts";
import { sites } from "#db/schema/sites.ts";
import { wonRace, notFound } from "#worker/lib/errors.ts";
import { callerAccount, commitIfUnchanged, type Ctx, type NewEvent } from "#worker/services/core/context.ts";
import { newId } from "#worker/lib/ids.ts";
import { type ListPage, type ListQuery, listRows, sliceOf, tableList } from "#worker/services/core/listing.ts";

const deviceList = tableList<DeviceRow>({
  table: devices,
  rows: (db, slice) => sliceOf(db.select().from(devices).$dynamic(), slice),
  sort: { created: devices.created },
  defaultDirection: 1,
  search: { description: devices.description },
});

/** Lists the devices that the caller watches on. */
export async function listDevices(ctx: Ctx, query: ListQuery): Promise<ListPage<DeviceRow>> {
  return listRows(ctx, deviceList, query, devicesOf(ctx, (await callerAccount(ctx)).id));
}

/** Frees the slot of one of the caller's devices. */
export async function freeDevice(ctx: Ctx, deviceId: string): Promise<void> {
  const { id: accountId } = await callerAccount(ctx);
  const change = ctx.db.delete(devices).where(and(devicesOf(ctx, accountId), eq(devices.deviceId, deviceId)));
  if (!(await wonRace(() => commitIfUnchanged(ctx, change, changeEvent("freed", accountId, deviceId))))) throw notFound("Device not found");
}

/** Takes a slot for a device, together with other changes; returns false if none is left or the device already has one. */
export async function claimDevice(
  ctx: Ctx,
  accountId: string,
  device: { deviceId: string; description: string },
  others: BatchItem<"sqlite">[],
): Promise<boolean> {
  const { deviceId, description } = device;
  const own = devicesOf(ctx, accountId);
  // Counted in the statement that writes, so that concurrent requests can't exceed the limit.
  const claim = ctx.db.insert(devices).select(
    ctx.db
      .select({
        id: sql<string>`${newId(ctx.now)}`.as("id"),
        siteId: sql<string>`${ctx.siteId}`.as("site_id"),
        accountId: sql<string>`${accountId}`.as("account_id"),
        deviceId: sql<string>`${deviceId}`.as("device_id"),
        description: sql<string>`${description}`.as("description"),
        created: sql<number>`${ctx.now}`.as("created"),
      })
      .from(sites)
      .where(
        and(
          eq(sites.id, ctx.siteId),
          sql`(select ${count()} from ${devices} where ${own}) < ${sites.deviceLimit}`,
          sql`not exists (select 1 from ${devices} where ${and(own, eq(devices.deviceId, deviceId))})`,
        ),
      ),
  );
  return wonRace(() => commitIfUnchanged(ctx, [claim, ...others], changeEvent("claimed", accountId, deviceId)));
}

/** Selects an account's devices in the order in which they took their slots. */
export function selectDevices(db: Db, ctx: { siteId: Bound<string> }, accountId: Bound<string>) {
  return db
    .select({ deviceId: devices.deviceId, description: devices.description })
    .from(devices)
    .where(devicesOf(ctx, accountId))
    .orderBy(asc(devices.created), asc(devices.id));
}

export function devicesOf(ctx: { siteId: Bound<string> }, accountId: Bound<string>): SQL | undefined {
  return and(eq(devices.siteId, ctx.siteId), eq(devices.accountId, accountId));
}

// The event belongs to the account's resource, so that it is erased with the account.
function changeEvent(change: "claimed" | "freed", accountId: string, deviceId: string): NewEvent {
  return { type: `device.${change}`, resource: `account/${accountId}`, data: { accountId, deviceId } };
}
