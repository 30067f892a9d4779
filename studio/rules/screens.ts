import type { Screen } from "#studio/app/screen.ts";

const loadRule = () => import("./rule-screen.tsx");

export const ruleScreens: readonly Screen[] = [
  {
    path: "/rules",
    title: "Rules",
    entry: { section: "Show", icon: "rule" },
    allows: ({ isSiteAdmin }) => isSiteAdmin,
    load: () => import("./rules-screen.tsx"),
  },
  { path: "/rules/new", title: "New rule", allows: ({ writesSite }) => writesSite, load: loadRule },
  { path: "/rules/$id", title: "Rule", allows: ({ isSiteAdmin }) => isSiteAdmin, load: loadRule },
];
