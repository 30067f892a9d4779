import { type KeyValueStorage, recall, remember } from "#studio/ui/storage.ts";

/** A site that somebody has signed in to in this browser, or that their global account is linked to. */
export interface KnownSite {
  siteId: string;
  name: string;
}

const CURRENT = "tifo.studio.site";
const KNOWN = "tifo.studio.sites";
const SITE_ID = /^[0-9a-f]{24}$/;
/** Under `npm start`, Studio opens the demo site. */
const DEMO_SITE = "5eed00000000000000000001";

export interface Storages {
  /** Lasts as long as the tab, so that two tabs can work with two sites. */
  tab: KeyValueStorage;
  /** Shared by all tabs. */
  browser: KeyValueStorage;
}

/** The site that this tab works with: of the address (`?site=`), which the tab keeps; of the tab; or the last one of any tab. */
export function currentSite({ tab, browser }: Storages, address: URL): string | null {
  const named = address.searchParams.get("site");
  // The next screen's address doesn't name it, and may be loaded again.
  if (named !== null && isSiteId(named)) remember(tab, CURRENT, named);
  const wanted = [named, recall(tab, CURRENT), recall(browser, CURRENT)];
  const found = wanted.find((siteId) => siteId !== null && isSiteId(siteId));
  if (found !== undefined) return found;
  return ["localhost", "127.0.0.1", "[::1]"].includes(address.hostname) ? DEMO_SITE : null;
}

export function isSiteId(text: string): boolean {
  return SITE_ID.test(text);
}

export function rememberCurrentSite({ tab, browser }: Storages, siteId: string): void {
  remember(tab, CURRENT, siteId);
  remember(browser, CURRENT, siteId);
}

export function knownSites({ browser }: Pick<Storages, "browser">): KnownSite[] {
  try {
    const stored: unknown = JSON.parse(recall(browser, KNOWN) ?? "[]");
    return Array.isArray(stored) ? stored.filter(isKnownSite) : [];
  } catch {
    return [];
  }
}

/** Adds sites to those that the site switcher offers, with their latest names. */
export function rememberSites(storages: Pick<Storages, "browser">, sites: readonly KnownSite[]): void {
  const others = knownSites(storages).filter(({ siteId }) => !sites.some((site) => site.siteId === siteId));
  const all = [...sites, ...others].slice(0, 200).map(({ siteId, name }) => ({ siteId, name }));
  remember(storages.browser, KNOWN, JSON.stringify(all));
}

function isKnownSite(value: unknown): value is KnownSite {
  if (typeof value !== "object" || value === null || !("siteId" in value) || !("name" in value)) return false;
  return typeof value.siteId === "string" && isSiteId(value.siteId) && typeof value.name === "string";
}
