import type { SidebarItem } from "./sidebar.ts";

export const android: SidebarItem[] = [];
