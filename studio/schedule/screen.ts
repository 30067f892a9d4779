import type { Screen } from "#studio/app/screen.ts";

export const scheduleScreen: Screen = {
  path: "/schedule",
  title: "Schedule",
  entry: { section: "Show", icon: "clock" },
  allows: ({ isAdmin }) => isAdmin,
  load: () => import("./schedule.tsx"),
};
