import { type Credentials, DEMO, fill, storedCredentials } from "./credentials.ts";

const originals = new WeakMap<Node, string>();

/** Fills the stored credentials and the page's origin into every sample on the page, and into the text that its copy button copies. */
export function fillCredentials(own: Credentials = storedCredentials()): void {
  const page = document.querySelector(".main-frame");
  if (!page || (isNone(own) && location.origin === DEMO.origin && !page.hasAttribute("data-filled"))) return;
  page.toggleAttribute("data-filled", true);
  const demo = demoTexts(own);
  for (const code of page.querySelectorAll("pre, code:not(pre code)")) if (!isInIsland(code)) fillText(code, own, demo);
  for (const button of page.querySelectorAll("[data-code]")) {
    const attribute = button.getAttributeNode("data-code");
    if (attribute) attribute.value = fill(original(attribute), own, location.origin);
  }
}

/** React renders an island's text, and expects to find its own when it takes it over. */
function isInIsland(code: Element): boolean {
  return code.closest("astro-island") !== null;
}

function isNone(own: Credentials): boolean {
  return own.clientId === "" && own.developerKey === "" && own.origin === "";
}

/** What samples contain that is replaced. Few of a page's many texts have any of it. */
function demoTexts({ values = [] }: Credentials): string[] {
  const hosts = [new URL(DEMO.origin).host, location.host];
  return [DEMO.clientId, DEMO.developerKey, ...hosts, ...values.map(([demo]) => demo)];
}

function fillText(code: Element, own: Credentials, demo: readonly string[]): void {
  // Text that mentions the local server's origin remains true on a deployment.
  const pageOrigin = code.closest("pre") ? location.origin : DEMO.origin;
  const texts = document.createTreeWalker(code, NodeFilter.SHOW_TEXT);
  for (let text = texts.nextNode(); text; text = texts.nextNode()) {
    const shown = text.nodeValue ?? "";
    if (!originals.has(text) && !demo.some((part) => shown.includes(part))) continue;
    const filled = fill(original(text), own, pageOrigin);
    if (filled !== shown) text.nodeValue = filled;
  }
}

/** The original text of a node. */
function original(node: Node): string {
  const known = originals.get(node);
  if (known !== undefined) return known;
  const text = node.nodeValue ?? "";
  // Operation pages name their origin already before the first paint.
  const before = document.documentElement.dataset["origin"] === undefined ? text : text.replaceAll(location.origin, DEMO.origin);
  originals.set(node, before);
  return before;
}
