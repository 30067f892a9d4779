import { type DefaultTreeAdapterTypes, parseFragment } from "parse5";

type Node = DefaultTreeAdapterTypes.Node;

// What an embed needs to work; leading the page around it away and starting downloads stay off.
const ATTRIBUTES =
  'sandbox="allow-scripts allow-same-origin allow-forms allow-popups allow-presentation" referrerpolicy="strict-origin-when-cross-origin" loading="lazy" allowfullscreen';

/**
 * The https src of the first iframe in a piece of HTML, as a browser would read it; undefined without one.
 * Nothing else of the HTML is worth keeping: scripts, handlers, srcdoc and attributes all run in the page that shows them.
 */
export function iframeSource(html: string): string | undefined {
  const src = firstIframe(parseFragment(html))?.attrs.find((attribute) => attribute.name === "src")?.value;
  if (src === undefined || !URL.canParse(src)) return undefined;
  const url = new URL(src);
  return url.protocol === "https:" && url.username === "" && url.password === "" ? url.href : undefined;
}

/** The tag that embeds this address; reading it again gives the same address. */
export function iframeTag(src: string): string {
  const escaped = src.replaceAll("&", "&amp;").replaceAll('"', "&quot;").replaceAll("<", "&lt;");
  return `<iframe src="${escaped}" ${ATTRIBUTES}></iframe>`;
}

function firstIframe(root: Node): DefaultTreeAdapterTypes.Element | undefined {
  const open: Node[] = [root];
  for (let node = open.pop(); node; node = open.pop()) {
    if ("tagName" in node && node.tagName === "iframe") return node;
    if ("childNodes" in node) open.push(...node.childNodes.toReversed());
  }
  return undefined;
}
