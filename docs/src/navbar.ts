/** One link of the top navigation. */
export interface NavbarLink {
  label: string;
  href: string;
}

/** The top navigation, in order. */
export const navbar: NavbarLink[] = [
  { label: "iOS SDK", href: "/sdk/ios" },
  { label: "tvOS SDK", href: "/sdk/tvos" },
  { label: "Android SDK", href: "/sdk/android" },
  { label: "Web SDK", href: "/sdk/web" },
  { label: "Roku SDK", href: "/sdk/roku" },
  { label: "REST API", href: "/api/rest" },
  { label: "Guides", href: "/guides/integration" },
];

/** Whether the page at `path` is the link's own or lies below it. */
export function isCurrent(link: NavbarLink, path: string): boolean {
  return `${path.replace(/\/$/, "")}/`.startsWith(`${link.href}/`);
}
