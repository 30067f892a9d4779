import type { SidebarItem } from "./sidebar.ts";

export const api: SidebarItem[] = [
  {
    label: "Start",
    items: [
      { label: "Get started", slug: "start" },
      { label: "Sandbox", slug: "sandbox" },
      { label: "API key", slug: "api/key" },
    ],
  },
  {
    label: "Concepts",
    items: [
      { label: "Authentication", slug: "concepts/authentication" },
      { label: "Security", slug: "concepts/security" },
      { label: "Delivery", slug: "concepts/delivery" },
      { label: "Realtime", slug: "concepts/realtime" },
      { label: "Moderation", slug: "concepts/moderation" },
      { label: "Webhooks", slug: "concepts/webhooks" },
      { label: "Event catalogue", slug: "concepts/event-catalogue" },
      { label: "Idempotency", slug: "concepts/idempotency" },
      { label: "Pagination", slug: "concepts/pagination" },
      { label: "Rate limits", slug: "concepts/rate-limits" },
    ],
  },
  {
    label: "Reference",
    items: [
      { label: "Operations", link: "/docs/api-reference" },
      { label: "REST API explorer", link: "/api/rest" },
      { label: "Errors", link: "/errors" },
      { label: "Changelog", slug: "changelog" },
    ],
  },
];
