import { listKit } from "#worker/services/overlays/kit/catalogue.ts";
import type { SidebarItem } from "./sidebar.ts";

export const web: SidebarItem[] = [
  { label: "Overview", slug: "sdk/web" },
  {
    label: "Getting started",
    items: [
      { label: "Install", slug: "sdk/web/getting-started" },
      { label: "Web components", slug: "sdk/web/web-components" },
      { label: "Changelog", slug: "sdk/web/getting-started/CHANGELOG" },
    ],
  },
  {
    label: "Core SDK",
    items: ["configure", "userDidStartWatchingEvent", "userDidStopWatchingEvent", "getTifoEventViewModel", "renderPanel"].map(
      pageBelow("core-sdk"),
    ),
  },
  {
    label: "Event delegate",
    items: [
      "getUserToken",
      "userIsAuthenticated",
      "getUserSWID",
      "onPanelEvent",
      "trackAction",
      "trackImpression",
      "playClip",
      "userRequestedNewKeyPlaysData",
      "startFocusManagement",
      "getStatsAPIBaseURL",
      "getBettingAPIBaseURL",
    ].map(pageBelow("event-delegate")),
  },
  {
    label: "Event interface",
    items: [
      { label: "State", slug: "sdk/web/tifo-event-interface/state" },
      { label: "Panel management", slug: "sdk/web/tifo-event-interface/panel-management" },
      { label: "Playback controls", slug: "sdk/web/tifo-event-interface/playback-controls" },
    ],
  },
  {
    label: "Overlays",
    items: [
      { label: "Overlay integration guide", slug: "sdk/web/overlays/integration-guide" },
      { label: "Overlay types", slug: "sdk/web/overlays/overlay-types" },
      { label: "Positioning and styling", slug: "sdk/web/overlays/positioning-and-styling" },
      {
        label: "Gallery",
        collapsed: true,
        items: [
          { label: "All templates", slug: "overlays/gallery" },
          ...listKit().map(({ name, title }) => ({ label: title, slug: `overlays/gallery/${name}` })),
        ],
      },
      { label: "Rive configuration", slug: "sdk/web/overlays/rive-configuration" },
    ],
  },
  {
    label: "Focus management",
    items: [
      { label: "Remote controls and keyboards", slug: "sdk/web/focus-management" },
      { label: "Parent app focus", slug: "sdk/web/focus-management/parent-app-focus" },
    ],
  },
  { label: "User settings", slug: "sdk/web/user-settings" },
  { label: "Web legacy", slug: "sdk/web-legacy" },
];

/** The page of a function, with the same name. */
function pageBelow(group: string): (name: string) => SidebarItem {
  return (name) => ({ label: name, slug: `sdk/web/${group}/${name}` });
}
