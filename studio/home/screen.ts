import type { Screen } from "#studio/app/screen.ts";

export const homeScreen: Screen = {
  path: "/",
  title: "Overview",
  entry: { section: "Show", icon: "overview" },
  allows: () => true,
  load: () => import("./home.tsx"),
};
