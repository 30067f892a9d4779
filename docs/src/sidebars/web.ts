import type { SidebarItem } from "./sidebar.ts";

export const web: SidebarItem[] = [{ label: "Core SDK", items: [{ label: "configure", slug: "sdk/web/core-sdk/configure" }] }];
