import type { SidebarItem } from "./sidebar.ts";

export const webLegacy: SidebarItem[] = [];
