import { createContext, useContext } from "react";
import type { Session } from "./session.ts";
import type { KnownSite } from "./sites.ts";

/** The site of this tab, and how to change it. */
export interface SiteControl {
  siteId: string | null;
  sites: KnownSite[];
  /** Switches to a site; without an id, to the sign-in of another one. */
  switchTo: (siteId: string | null) => void;
  /** Keeps a site among those that the site menu offers, with its latest name. */
  rememberSite: (site: KnownSite) => void;
  /** Ends the session of this browser's tabs, or those of all devices. */
  signOut: (everywhere?: boolean) => Promise<void>;
}

export const SessionContext = createContext<Session | null>(null);
export const SiteContext = createContext<SiteControl | null>(null);

/** The signed-in account, its roles and the client of its site. */
export function useSession(): Session {
  const session = useContext(SessionContext);
  if (session === null) throw new Error("A screen is shown without a session");
  return session;
}

export function useSite(): SiteControl {
  const site = useContext(SiteContext);
  if (site === null) throw new Error("There is no SiteContext");
  return site;
}
