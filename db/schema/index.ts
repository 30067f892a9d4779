export * from "./accounts.ts";
export * from "./events.ts";
export * from "./overlays.ts";
export * from "./pages.ts";
export * from "./sites.ts";
