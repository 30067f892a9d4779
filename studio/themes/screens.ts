import type { Screen } from "#studio/app/screen.ts";

export const themeScreens: readonly Screen[] = [
  {
    path: "/content/themes",
    title: "Themes",
    entry: { section: "Content", icon: "theme" },
    allows: ({ isSiteAdmin }) => isSiteAdmin,
    load: () => import("./themes.tsx"),
  },
  { path: "/content/themes/new", title: "New theme", allows: ({ writesSite }) => writesSite, load: () => import("./theme-screen.tsx") },
  { path: "/content/themes/$id", title: "Themes", allows: ({ isSiteAdmin }) => isSiteAdmin, load: () => import("./theme-screen.tsx") },
];
