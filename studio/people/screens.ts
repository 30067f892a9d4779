import type { Screen } from "#studio/app/screen.ts";

export const peopleScreens: readonly Screen[] = [
  {
    path: "/people/transfer",
    title: "Import and export",
    allows: ({ isSiteAdmin }) => isSiteAdmin,
    load: () => import("./transfer.tsx"),
  },
  {
    path: "/people/$id/access",
    title: "Access and payments",
    allows: ({ isSiteAdmin }) => isSiteAdmin,
    load: () => import("./person.tsx"),
  },
  {
    path: "/money",
    title: "Payments",
    entry: { section: "People", icon: "money" },
    allows: ({ isSiteAdmin }) => isSiteAdmin,
    load: () => import("#studio/money/payments.tsx"),
  },
];
