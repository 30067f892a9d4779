import changelog from "../content/docs/changelog.md?raw";
import { changelogFeed } from "../publish/changelog-feed.ts";
import { origin } from "../site.ts";

/** The changelog as an Atom feed. */
export function GET(): Response {
  const feed = changelogFeed(changelog, origin, new Date().toISOString().slice(0, 10));
  return new Response(feed, { headers: { "Content-Type": "application/atom+xml; charset=utf-8" } });
}
