import type { SidebarItem } from "./sidebar.ts";

export const roku: SidebarItem[] = [
  { label: "Roku", slug: "sdk/roku" },
  { label: "Components", slug: "sdk/roku/components" },
];
