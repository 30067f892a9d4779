import { createApiReference } from "@scalar/api-reference";
import stylesheet from "@scalar/api-reference/style.css?url";
import { DEMO, fill, storedCredentials } from "../key/credentials.ts";
import { recordRequest } from "../sandbox/requests.ts";
import theme from "./theme.css?inline";

/**
 * Renders an OpenAPI document with a request client that calls this page's own origin. Nothing is requested from other hosts.
 * @param content the document as JSON text
 */
export async function mountApiReference(element: HTMLElement, content: string): Promise<void> {
  await addStylesheet();
  followTheme();
  fixMarkup(element);
  const own = storedCredentials();
  const [clientId, developerKey] = [own.clientId || DEMO.clientId, own.developerKey || DEMO.developerKey];
  createApiReference(element, {
    content: fill(content, own, location.origin),
    servers: [{ url: location.origin }],
    authentication: {
      preferredSecurityScheme: [["client", "developer"]],
      securitySchemes: { client: { value: clientId }, clientQuery: { value: clientId }, developer: { value: developerKey } },
    },
    customFetch: fetchAndRecord,
    theme: "none",
    customCss: theme,
    layout: "modern",
    forceDarkModeState: isDark() ? "dark" : "light",
    hideDarkModeToggle: true,
    hideSearch: true,
    hideClientButton: true,
    showDeveloperTools: "never",
    withDefaultFonts: false,
    telemetry: false,
    persistAuth: false,
    agent: { disabled: true },
    mcp: { disabled: true },
  });
}

/** Sends a request of the explorer, and lists it beside the sandbox's events. */
async function fetchAndRecord(input: RequestInfo | URL, init?: RequestInit): Promise<Response> {
  const response = await fetch(input, init);
  const method = init?.method ?? (input instanceof Request ? input.method : "GET");
  const { origin, pathname, search } = new URL(input instanceof Request ? input.url : input, location.href);
  if (origin === location.origin) recordRequest({ method: method.toUpperCase(), path: pathname + search, status: response.status });
  return response;
}

/** Loaded by URL: as an import it would be in the page's head and block readers who don't need it. */
async function addStylesheet(): Promise<void> {
  const link = document.createElement("link");
  link.rel = "stylesheet";
  link.href = stylesheet;
  const loaded = new Promise((settle, fail) => {
    link.addEventListener("load", settle);
    link.addEventListener("error", () => fail(new Error("The reference's stylesheet could not be loaded.")));
  });
  document.head.append(link);
  await loaded;
}

/**
 * Fixes the accessibility of the rendered reference: the page already has a main landmark, and controls and scrollable areas need
 * a name or a place in the tab order. The reference renders while it is scrolled, so this keeps running.
 */
function fixMarkup(element: HTMLElement): void {
  const patches: Record<string, Record<string, string>> = {
    "main:not([role])": { role: "group", "aria-label": "Operations" },
    "button[class*=copy-button]:not([aria-label])": { "aria-label": "Copy" },
    "[role=combobox]:not([aria-expanded])": { "aria-expanded": "false" },
    "[role=combobox][data-placeholder]:not([aria-label], [aria-labelledby])": { "aria-label": "Value" },
    "section.contents:not([role])": { role: "group" },
    "ul.endpoints:not([tabindex])": { tabindex: "0" },
  };
  function fixAccessibility(): void {
    for (const [selector, attributes] of Object.entries(patches))
      for (const found of element.querySelectorAll(selector))
        for (const [name, value] of Object.entries(attributes)) found.setAttribute(name, value);
  }
  new MutationObserver(fixAccessibility).observe(element, { childList: true, subtree: true });
}

function isDark(): boolean {
  return document.documentElement.dataset["theme"] === "dark";
}

/** The reference reads its theme from a class of the body, the site from an attribute of the root. */
function followTheme(): void {
  function apply(): void {
    document.body.classList.toggle("dark-mode", isDark());
    document.body.classList.toggle("light-mode", !isDark());
  }
  new MutationObserver(apply).observe(document.documentElement, { attributes: true, attributeFilter: ["data-theme"] });
  apply();
}
