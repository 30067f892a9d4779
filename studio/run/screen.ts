import type { Screen } from "#studio/app/screen.ts";

/** The channels that a show can be run on. */
export const runChannelsScreen: Screen = {
  path: "/run",
  title: "Run",
  entry: { section: "Show", icon: "run" },
  allows: ({ isAdmin }) => isAdmin,
  load: () => import("./channels.tsx"),
};

/** A show on a channel: its rundown, what is on air, and what reaches viewers. */
export const runScreen: Screen = {
  path: "/run/$channelId",
  title: "Run",
  allows: ({ isAdmin }) => isAdmin,
  load: () => import("./run.tsx"),
};
