import { type DefaultTreeAdapterTypes, parseFragment } from "parse5";

type Node = DefaultTreeAdapterTypes.Node;

// What an embed needs to work; top-level navigation and downloads stay disabled.
const ATTRIBUTES =
  'sandbox="allow-scripts allow-same-origin allow-forms allow-popups allow-presentation" referrerpolicy="strict-origin-when-cross-origin" loading="lazy" allowfullscreen';

/**
 * The https src of the first iframe in some HTML, as a browser would parse it; undefined without one.
 * The rest is dropped: scripts, handlers, srcdoc and attributes would run in the embedding page.
 */
export function iframeSource(html: string): string | undefined {
  const src = firstIframe(parseFragment(html))?.attrs.find((attribute) => attribute.name === "src")?.value;
  if (src === undefined || !URL.canParse(src)) return undefined;
  const url = new URL(src);
  return url.protocol === "https:" && url.username === "" && url.password === "" ? url.href : undefined;
}

/** The tag that embeds this URL; parsing it returns the same URL. */
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
