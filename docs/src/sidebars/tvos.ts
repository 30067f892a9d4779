import type { SidebarItem } from "./sidebar.ts";

const page = (label: string, path: string): SidebarItem => ({ label, slug: `sdk/tvos/${path}` });

/** Pages named after what they document, below one folder. */
const named = (folder: string, ...names: string[]): SidebarItem[] => names.map((name) => page(name, `${folder}/${name}`));

export const tvos: SidebarItem[] = [
  { label: "tvOS", slug: "sdk/tvos" },
  page("Getting started", "getting-started"),
  {
    label: "Core SDK",
    items: named(
      "core-sdk",
      "configure",
      "userDidStartWatchingEvent",
      "userDidStopWatchingEvent",
      "authenticateUser",
      "deauthenticateUser",
      "getCurrentJwt",
      "getCurrentSiteID",
      "getCurrentSwid",
      "getDefaultPanel",
    ),
  },
  { label: "Components", items: named("components", "TifoOverlay", "TifoPanel") },
  {
    label: "Tifo event interface",
    items: [
      page("State", "tifo-event-interface/state"),
      page("Overlay management", "tifo-event-interface/overlay-management"),
      page("Panel management", "tifo-event-interface/panel-management"),
      page("Playback controls", "tifo-event-interface/playback-controls"),
    ],
  },
  {
    label: "Event delegate",
    items: named(
      "event-delegate",
      "shouldShowOverlay",
      "shouldHideOverlay",
      "shouldShowPanel",
      "shouldHidePanel",
      "shouldShowPanelType",
      "playClip",
      "stopPlayingClip",
      "playPauseButtonPressed",
      "trackAction",
      "trackImpression",
      "userRequestedLogin",
      "userRequestedNewKeyPlaysData",
      "userViewedPanel",
    ),
  },
  { label: "Manager delegate", items: named("tifo-manager-delegate", "trackAction", "trackState") },
  page("Changelog", "getting-started/CHANGELOG"),
];
