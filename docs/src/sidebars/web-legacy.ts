import type { SidebarItem } from "./sidebar.ts";

export const webLegacy: SidebarItem[] = [
  { label: "Overview and migration", slug: "sdk/web-legacy" },
  { label: "Reference", slug: "sdk/web-legacy/reference" },
  { label: "Web SDK", slug: "sdk/web" },
];
