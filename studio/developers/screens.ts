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
];
