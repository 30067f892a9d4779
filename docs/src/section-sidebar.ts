import { defineRouteMiddleware, type StarlightRouteData } from "@astrojs/starlight/route-data";
import { sectionOf } from "./sidebars/index.ts";

type Entry = StarlightRouteData["sidebar"][number];
type Link = Extract<Entry, { type: "link" }>;

/** Reduces each page's sidebar to its own section, and keeps "previous" and "next" within it. */
export const onRequest = defineRouteMiddleware(({ locals, url }) => {
  const route = locals.starlightRoute;
  const section = sectionOf(url.pathname);
  const group = route.sidebar.find((entry) => entry.type === "group" && entry.label === section?.label);
  route.sidebar = group?.type === "group" ? group.entries : [];
  route.hasSidebar = route.hasSidebar && route.sidebar.length > 0;
  const links = route.sidebar.flatMap(linksOf);
  const here = links.findIndex((link) => link.isCurrent);
  const { prev, next } = route.entry.data;
  if (prev === undefined) route.pagination.prev = here > 0 ? links[here - 1] : undefined;
  if (next === undefined) route.pagination.next = here >= 0 ? links[here + 1] : undefined;
});

function linksOf(entry: Entry): Link[] {
  return entry.type === "link" ? [entry] : entry.entries.flatMap(linksOf);
}
