import type { Screen } from "#studio/app/screen.ts";

export const insightsScreen: Screen = {
  path: "/insights",
  title: "Insights",
  entry: { section: "Show", icon: "insight" },
  allows: ({ isAdmin }) => isAdmin,
  load: () => import("./insights.tsx"),
};
