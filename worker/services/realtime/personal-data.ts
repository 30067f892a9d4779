import { and, eq } from "drizzle-orm";
import { viewerActivity } from "#db/schema/activity.ts";
import { devices, watchTime } from "#db/schema/devices.ts";
import { type PersonalData, rowsOf } from "#worker/services/core/personal-data.ts";
import { devicesOf } from "#worker/services/pages/devices.ts";

const area = "page";

export const viewerData: PersonalData[] = [
  rowsOf(
    { name: "devices", area, description: "Devices on which the account watches" },
    {
      table: devices,
      of: (ctx, { accountId }) => devicesOf(ctx, accountId),
      columns: { deviceId: devices.deviceId, description: devices.description, created: devices.created },
    },
  ),
  rowsOf(
    { name: "watchTime", area, description: "How long the account has watched each page" },
    {
      table: watchTime,
      of: ({ siteId }, { accountId }) => and(eq(watchTime.siteId, siteId), eq(watchTime.viewer, `account:${accountId}`)),
      columns: { pageId: watchTime.pageId, seconds: watchTime.seconds, modified: watchTime.modified },
    },
  ),
  rowsOf(
    { name: "activity", area, description: "Videos watched, channels visited and panels opened" },
    {
      table: viewerActivity,
      of: ({ siteId }, { accountId }) => and(eq(viewerActivity.siteId, siteId), eq(viewerActivity.accountId, accountId)),
      columns: {
        kind: viewerActivity.kind,
        targetId: viewerActivity.targetId,
        channelId: viewerActivity.channelId,
        seconds: viewerActivity.seconds,
        firstAt: viewerActivity.firstAt,
        lastAt: viewerActivity.lastAt,
      },
    },
  ),
];
