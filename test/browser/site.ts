import type { Page } from "playwright-core";

/** Collects a page's script errors, violations of its content security policy, and requests to other hosts. */
export function collectErrors(page: Page, origin: string): string[] {
  const errors: string[] = [];
  page.on("pageerror", (error) => errors.push(`${page.url()}: ${error.message}`));
  page.on("console", (message) => {
    if (message.type() === "error" && !message.text().startsWith("Failed to load resource"))
      errors.push(`${page.url()}: ${message.text()}`);
  });
  page.on("request", (request) => {
    if (/^https?:/.test(request.url()) && new URL(request.url()).origin !== origin) errors.push(`${page.url()} requested ${request.url()}`);
  });
  return errors;
}

/** Paths of every page that the site's sitemap lists. */
export async function sitemapPaths(url: string): Promise<string[]> {
  const response = await fetch(`${url}/sitemap-0.xml`);
  return [...(await response.text()).matchAll(/<loc>([^<]+)<\/loc>/g)].map(([, address = ""]) => new URL(address).pathname);
}
