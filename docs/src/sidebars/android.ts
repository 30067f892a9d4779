import type { SidebarItem } from "./sidebar.ts";

export const android: SidebarItem[] = [
  { label: "Overview", slug: "sdk/android" },
  {
    label: "Getting started",
    items: [
      { label: "Overlays", slug: "sdk/android/getting-started/TifoOverlayImplementation" },
      { label: "Panels", slug: "sdk/android/getting-started/TifoPanelImplementation" },
      { label: "Chat and questions", slug: "sdk/android/getting-started/ChatAndQuestions" },
      { label: "Event data", slug: "sdk/android/getting-started/UpdatingEventData" },
      { label: "Key plays", slug: "sdk/android/getting-started/KeyPlays" },
    ],
  },
  { label: "API reference", slug: "sdk/android/api-ref" },
  { label: "Migration", slug: "sdk/android/migration" },
  { label: "Changelog", slug: "sdk/android/changelog" },
];
