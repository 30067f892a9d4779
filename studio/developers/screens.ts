import type { Screen } from "#studio/app/screen.ts";

export const developerScreens: readonly Screen[] = [
  {
    path: "/developers/keys",
    title: "API keys",
    entry: { section: "Developers", icon: "key" },
    allows: ({ isSiteAdmin }) => isSiteAdmin,
    load: () => import("./keys.tsx"),
  },
  {
    path: "/developers/deliveries",
    title: "Webhook deliveries",
    entry: { section: "Developers", icon: "webhook" },
    allows: ({ isSiteAdmin }) => isSiteAdmin,
    load: () => import("./deliveries.tsx"),
  },
  {
    path: "/developers/events",
    title: "Events",
    entry: { section: "Developers", icon: "list" },
    allows: ({ isSiteAdmin }) => isSiteAdmin,
    load: () => import("./events.tsx"),
  },
  {
    path: "/developers/requests",
    title: "Requests",
    entry: { section: "Developers", icon: "request" },
    allows: ({ isSiteAdmin }) => isSiteAdmin,
    load: () => import("./requests.tsx"),
  },
  {
    path: "/developers/limits",
    title: "Limits",
    entry: { section: "Developers", icon: "limit" },
    allows: ({ isSiteAdmin }) => isSiteAdmin,
    load: () => import("./limits.tsx"),
  },
];
