import type { Page } from "playwright-core";

/** What a page says that it should not: errors of its scripts, refusals of its content security policy, requests to other hosts. */
export function collectFaults(page: Page, origin: string): string[] {
  const faults: string[] = [];
  page.on("pageerror", (error) => faults.push(`${page.url()}: ${error.message}`));
  page.on("console", (message) => {
    if (message.type() === "error" && !message.text().startsWith("Failed to load resource"))
      faults.push(`${page.url()}: ${message.text()}`);
  });
  page.on("request", (request) => {
    if (/^https?:/.test(request.url()) && new URL(request.url()).origin !== origin) faults.push(`${page.url()} asked ${request.url()}`);
  });
  return faults;
}

/** Paths of every page that the site's sitemap lists. */
export async function sitemapPaths(url: string): Promise<string[]> {
  const answer = await fetch(`${url}/sitemap-0.xml`);
  return [...(await answer.text()).matchAll(/<loc>([^<]+)<\/loc>/g)].map(([, address = ""]) => new URL(address).pathname);
}
