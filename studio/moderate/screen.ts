import type { Screen } from "#studio/app/screen.ts";

/** Messages that wait for a decision, the chat itself, questions and bans: all that moderators see of Studio. */
export const moderateScreen: Screen = {
  path: "/moderate",
  title: "Moderate",
  entry: { section: "Show", icon: "chat" },
  allows: ({ isModerator }) => isModerator,
  load: () => import("./moderate.tsx"),
};
