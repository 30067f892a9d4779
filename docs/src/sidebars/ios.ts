import type { SidebarItem } from "./sidebar.ts";

export const ios: SidebarItem[] = [];
