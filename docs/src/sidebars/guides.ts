import type { SidebarItem } from "./sidebar.ts";

export const guides: SidebarItem[] = [];
