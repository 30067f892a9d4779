import type { SidebarItem } from "./sidebar.ts";

const page = (label: string, path: string): SidebarItem => ({ label, slug: `sdk/ios/${path}` });

export const ios: SidebarItem[] = [
  { label: "iOS", slug: "sdk/ios" },
  {
    label: "Getting started",
    items: [page("Setup", "getting-started/setup"), page("Developing", "getting-started/developing")],
  },
  {
    label: "Components",
    items: [
      page("Client video player", "components/client-video-player"),
      page("Panel control", "components/panel-control"),
      page("Live badge", "components/live-badge"),
      page("Chat panel", "components/chat-panel"),
      page("Admin video publisher", "components/admin-video-publisher"),
    ],
  },
];
