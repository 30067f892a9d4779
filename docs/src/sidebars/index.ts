import { android } from "./android.ts";
import { api } from "./api.ts";
import { guides } from "./guides.ts";
import { ios } from "./ios.ts";
import { roku } from "./roku.ts";
import type { SidebarItem } from "./sidebar.ts";
import { tvos } from "./tvos.ts";
import { webLegacy } from "./web-legacy.ts";
import { web } from "./web.ts";

/** A section of the site: the pages below its paths share one sidebar. */
export interface Section {
  /** Label of its group in Starlight's single sidebar, from which each page gets its section's part. */
  label: string;
  /** Paths of its pages, including all pages below. The longest match wins. */
  paths: string[];
  items: SidebarItem[];
}

/** All sections, in the order of the top navigation. */
export const sections: Section[] = [
  { label: "iOS SDK", paths: ["/sdk/ios"], items: ios },
  { label: "tvOS SDK", paths: ["/sdk/tvos"], items: tvos },
  { label: "Android SDK", paths: ["/sdk/android"], items: android },
  { label: "Web SDK", paths: ["/sdk/web", "/overlays"], items: web },
  { label: "Web legacy SDK", paths: ["/sdk/web-legacy"], items: webLegacy },
  { label: "Roku SDK", paths: ["/sdk/roku"], items: roku },
  { label: "API", paths: ["/start", "/sandbox", "/api", "/errors", "/concepts", "/docs", "/changelog"], items: api },
  { label: "Guides", paths: ["/guides", "/sdk/cli"], items: guides },
];

/** The section of a page; undefined for the home page and similar pages. */
export function sectionOf(path: string): Section | undefined {
  const at = `${path.replace(/\/$/, "")}/`;
  const depth = (section: Section) => Math.max(0, ...section.paths.filter((base) => at.startsWith(`${base}/`)).map((base) => base.length));
  const [deepest] = sections.filter((section) => depth(section) > 0).sort((one, other) => depth(other) - depth(one));
  return deepest;
}
