import { createClient, type Schemas, type TifoClient } from "#sdk/client/index.ts";
import { type Access } from "./access.ts";
import { accountIdOf, sharedTokens, type SharedTokens } from "./token-store.ts";

/** The connection to one site: its client, with the session that all tabs share. */
export interface SiteConnection {
  siteId: string;
  client: TifoClient;
  tokens: SharedTokens;
  /** The signed-in account's id, or null. */
  accountId(): string | null;
}

/** What every screen has: it is shown only to a signed-in account. */
export interface Session {
  siteId: string;
  client: TifoClient;
  account: Schemas["Account"];
  access: Access;
}

const connections = new Map<string, SiteConnection>();

/** One connection per site, because tabs and screens share its refreshed tokens. */
export function connectionTo(siteId: string): SiteConnection {
  const open = connections.get(siteId);
  if (open) return open;
  const tokens = sharedTokens(siteId, localStorage, window);
  const client = createClient({ origin: location.origin, clientId: siteId, tokens });
  const connection: SiteConnection = {
    siteId,
    client,
    tokens,
    accountId() {
      const session = tokens.get();
      return session && accountIdOf(session.jwt);
    },
  };
  connections.set(siteId, connection);
  return connection;
}
