import { origin } from "../site.ts";

export const GET = (): Response => new Response(`User-agent: *\nAllow: /\n\nSitemap: ${origin}/sitemap-index.xml\n`);
