import type { SidebarItem } from "./sidebar.ts";

export const tvos: SidebarItem[] = [];
