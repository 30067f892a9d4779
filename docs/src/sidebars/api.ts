import type { SidebarItem } from "./sidebar.ts";

export const api: SidebarItem[] = [
  { label: "Get started", slug: "start" },
  { label: "API key", slug: "api/key" },
  { label: "REST API explorer", link: "/api/rest" },
  { label: "Errors", link: "/errors" },
];
