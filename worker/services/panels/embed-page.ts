import { sha256 } from "#worker/lib/crypto/crypto.ts";
import { escapeHtml } from "#worker/lib/handlebars/template.ts";
import { type EmbeddablePanel, embedUrl, oembedUrl } from "./embeds.ts";
import type { OEmbed } from "./embed-schemas.ts";

const STYLE = [
  "html,body,main{height:100%;margin:0}",
  "h1{position:absolute;width:1px;height:1px;overflow:hidden;clip-path:inset(50%)}",
  "tifo-panel{height:100%}",
].join("");
const DEFAULT_SIZE = { width: 400, height: 480 };
const CACHE_SECONDS = 300;

/** The document that shows one panel, for a frame on any page. */
export function embedPage(origin: string, embed: EmbeddablePanel): string {
  const { siteId, channelId, panelId } = embed;
  const title = escapeHtml(titleOf(embed));
  const attributes = `site="${siteId}" channel="${channelId}" panel="${panelId}"`;
  return `<!doctype html>
<html lang="en">
<meta charset="utf-8">
<title>${title}</title>
<meta name="viewport" content="width=device-width">
<meta name="robots" content="noindex">
<link rel="alternate" type="application/json+oembed" href="${escapeHtml(oembedUrl(origin, embed))}" title="${title}">
<style>${STYLE}</style>
<script src="/sdk/tifo-elements.js"></script>
<body><main><h1>${title}</h1><tifo-panel ${attributes}></tifo-panel></main></body>
</html>
`;
}

/**
 * Any page may frame it, and its document has an origin of its own: no cookie or storage of the deployment, no form, no script but the SDK's.
 * Images and iframe panels come from where the site's editors say.
 */
export async function embedHeaders(origin: string): Promise<Record<string, string>> {
  const policy = [
    "default-src 'none'",
    `script-src ${origin}/sdk/`,
    `style-src 'sha256-${Buffer.from(await sha256(STYLE), "hex").toString("base64")}'`,
    `connect-src ${origin} ${origin.replace(/^http/, "ws")}`,
    `img-src ${origin} https: data:`,
    `font-src ${origin}`,
    "frame-src https:",
    "base-uri 'none'",
    "form-action 'none'",
    "frame-ancestors *",
    "sandbox allow-scripts allow-popups allow-popups-to-escape-sandbox",
  ];
  return {
    "Content-Security-Policy": policy.join("; "),
    "Content-Type": "text/html; charset=utf-8",
    "Cache-Control": `public, max-age=${CACHE_SECONDS}`,
    "Referrer-Policy": "no-referrer",
  };
}

/** The oEmbed response: a frame with the embed page, no larger than the consumer wants. */
export function toOEmbed(origin: string, embed: EmbeddablePanel, { maxwidth, maxheight }: { maxwidth?: number; maxheight?: number }) {
  const width = Math.min(DEFAULT_SIZE.width, maxwidth ?? Infinity);
  const height = Math.min(DEFAULT_SIZE.height, maxheight ?? Infinity);
  const title = titleOf(embed);
  const source = escapeHtml(embedUrl(origin, embed));
  return {
    version: "1.0",
    type: "rich",
    title,
    author_name: embed.siteName,
    provider_name: "Tifo",
    provider_url: origin,
    cache_age: CACHE_SECONDS,
    html: `<iframe src="${source}" width="${width}" height="${height}" title="${escapeHtml(title)}" style="border:0" loading="lazy"></iframe>`,
    width,
    height,
  } satisfies OEmbed;
}

function titleOf({ panel }: EmbeddablePanel): string {
  return panel.renderer.panel_name;
}
