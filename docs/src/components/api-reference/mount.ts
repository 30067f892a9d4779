import { createApiReference } from "@scalar/api-reference";
import "@scalar/api-reference/style.css";
import { DEMO } from "../live-channel/demo.ts";
import theme from "./theme.css?inline";

/**
 * Shows an OpenAPI document with its try-it client, which calls this page's own origin; nothing is asked of any other host.
 * @param content the document as JSON text
 */
export function mountApiReference(element: HTMLElement, content: string): void {
  followTheme();
  createApiReference(element, {
    content,
    servers: [{ url: location.origin }],
    authentication: {
      preferredSecurityScheme: [["client", "developer"]],
      securitySchemes: { client: { value: DEMO.clientId }, clientQuery: { value: DEMO.clientId }, developer: { value: DEMO.developerKey } },
    },
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

function isDark(): boolean {
  return document.documentElement.dataset["theme"] === "dark";
}

/** The reference takes its colours from a class of the body, the site from an attribute of the root. */
function followTheme(): void {
  function apply(): void {
    document.body.classList.toggle("dark-mode", isDark());
    document.body.classList.toggle("light-mode", !isDark());
  }
  new MutationObserver(apply).observe(document.documentElement, { attributes: true, attributeFilter: ["data-theme"] });
  apply();
}
