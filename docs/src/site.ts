import { DOCUMENT_VERSION } from "./versions.ts";

/** A bar above the navbar. Dismissing it lasts until `id` changes. */
export interface AnnouncementBar {
  id: string;
  /** Trusted HTML. */
  content: string;
  backgroundColor: string;
  textColor: string;
  isCloseable: boolean;
}

export interface FooterLink {
  label: string;
  href: string;
}

export interface FooterColumn {
  title: string;
  items: FooterLink[];
}

export interface SiteFooter {
  style: "light" | "dark";
  /** Columns with titles, or one row of links. */
  links: FooterColumn[] | FooterLink[];
  logo?: { src: string; srcDark?: string; alt: string; width: number; height: number; href?: string; target?: string };
  copyright?: string;
}

/** The origin of the site, for canonical links, the sitemap and the link to the OpenAPI document. */
export const origin = process.env["TIFO_SITE"] ?? "http://localhost:8787";

/** Below the name: on the home page, in its title and in the footer. */
export const tagline = "Developer Docs";

/** Base URL for editing the sources, including the branch; without it, pages have no edit link. */
export const sources = process.env["TIFO_SOURCES"];

export const announcement: AnnouncementBar | undefined = {
  id: "web-sdk-first",
  content: `The Web SDK is here: <a href="/sdk/web">overlays on your player in ten lines</a>.`,
  backgroundColor: "#2a2170",
  textColor: "#ffffff",
  isCloseable: true,
};

/** A first visit uses the default. Clearing a choice follows the system if that is enabled, otherwise the default. */
export const colorMode = { defaultMode: "light", respectPrefersColorScheme: true } as const;

export const footer: SiteFooter = {
  style: "light",
  links: [
    {
      title: "SDKs",
      items: [
        { label: "Web", href: "/sdk/web" },
        { label: "iOS", href: "/sdk/ios" },
        { label: "tvOS", href: "/sdk/tvos" },
        { label: "Android", href: "/sdk/android" },
        { label: "Roku", href: "/sdk/roku" },
        { label: "Web legacy", href: "/sdk/web-legacy" },
      ],
    },
    {
      title: "API",
      items: [
        { label: "Explorer", href: "/api/rest" },
        { label: "All operations", href: "/docs/api-reference" },
        { label: "API key", href: "/api/key" },
        { label: "Errors", href: "/errors" },
        { label: `OpenAPI ${DOCUMENT_VERSION}`, href: "/openapi.json" },
      ],
    },
    {
      title: "Learn",
      items: [
        { label: "Get started", href: "/start" },
        { label: "Integration", href: "/guides/integration" },
        { label: "Realtime", href: "/concepts/realtime" },
        { label: "Webhooks", href: "/concepts/webhooks" },
        { label: "Changelog", href: "/changelog" },
        { label: "Quality", href: "/quality" },
      ],
    },
    {
      title: "For tools",
      items: [
        { label: "llms.txt", href: "/llms.txt" },
        { label: "Search index", href: "/search-index.json" },
        { label: "Changelog feed", href: "/changelog.xml" },
        { label: "Sitemap", href: "/sitemap-index.xml" },
      ],
    },
  ],
  logo: { src: "/favicon.svg", alt: "Tifo", width: 32, height: 32, href: "/" },
  copyright: "Tifo is open source under the MIT licence.",
};
