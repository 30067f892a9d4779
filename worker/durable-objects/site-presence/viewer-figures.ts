import type { Counted } from "#worker/services/insights/rollup.ts";
import type { SiteDevices } from "./devices.ts";
import type { ViewerMinutes } from "./viewer-minutes.ts";

/** The figures of the hours that aren't completely in the database yet, as of now. */
export function viewerFigures(minutes: ViewerMinutes, devices: SiteDevices): Omit<Counted, "position">[] {
  const spans = minutes.unflushed().flatMap(({ channelId, at: hour, peak, viewerMs }): Omit<Counted, "position">[] => {
    if (channelId === "") return [{ channelId, hour, metric: "sitePeakViewers", value: peak }];
    const seconds = Math.round(viewerMs / 1000);
    return [
      { channelId, hour, metric: "peakViewers", value: peak },
      { channelId, hour, metric: "viewerSeconds", value: seconds },
    ];
  });
  const added = devices.newSince(minutes.unflushedFrom).map(({ hour, channelId, devices: value }): Omit<Counted, "position"> => {
    return { channelId, hour, metric: channelId === "" ? "siteNewViewers" : "newViewers", value };
  });
  return [...spans, ...added];
}
