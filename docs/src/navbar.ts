/** One link of the top navigation. */
export interface NavbarLink {
  label: string;
  href: string;
}

/** The top navigation, in order. */
export const navbar: NavbarLink[] = [
  { label: "Get started", href: "/start" },
  { label: "REST API", href: "/api/rest" },
  { label: "API key", href: "/api/key" },
];

/** Whether the page at `path` is the link's own or lies below it. */
export function isCurrent(link: NavbarLink, path: string): boolean {
  return `${path.replace(/\/$/, "")}/`.startsWith(`${link.href}/`);
}
