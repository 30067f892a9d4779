import { defineRouteMiddleware } from "@astrojs/starlight/route-data";

/**
 * Tags that Starlight adds and nothing needs: what the page was built with, a card with a large image, which no page has, the locale,
 * which `lang` says, and the sitemap, which robots.txt names.
 */
const UNUSED: unknown[] = ["generator", "twitter:card", "og:locale", "sitemap"];

/** Removes unused tags from every page's head. */
export const onRequest = defineRouteMiddleware(({ locals: { starlightRoute } }) => {
  starlightRoute.head = starlightRoute.head.filter(
    ({ attrs = {} }) => !UNUSED.includes(attrs["name"] ?? attrs["property"] ?? attrs["rel"]),
  );
});
