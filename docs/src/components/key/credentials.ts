/** The credentials in the samples until the reader enters their own. */
export const DEMO = {
  clientId: "5eed00000000000000000001",
  developerKey: "tifo_dev_demo",
  origin: "http://localhost:8787",
} as const;

/** The reader's own credentials, stored while the tab is open. Empty fields use the demo's. */
export interface Credentials {
  clientId: string;
  developerKey: string;
  origin: string;
}

const KEY = "tifo.credentials";
export const NONE: Credentials = { clientId: "", developerKey: "", origin: "" };

/** The credentials stored in this tab. */
export function storedCredentials(): Credentials {
  try {
    const kept: unknown = JSON.parse(sessionStorage.getItem(KEY) ?? "null");
    if (typeof kept !== "object" || kept === null) return NONE;
    const text = (name: keyof Credentials): string => String(Reflect.get(kept, name) ?? "");
    return { clientId: text("clientId"), developerKey: text("developerKey"), origin: text("origin") };
  } catch {
    return NONE;
  }
}

/** Stores credentials until the tab closes. They are only filled into the samples and never sent anywhere. */
export function keepCredentials(credentials: Credentials): void {
  sessionStorage.setItem(KEY, JSON.stringify(credentials));
}

/** A sample with the reader's credentials instead of the demo's, and, if they name no origin, with `pageOrigin`. */
export function fill(sample: string, own: Credentials, pageOrigin: string = DEMO.origin): string {
  const origin = own.origin || pageOrigin;
  return sample
    .replaceAll(DEMO.clientId, own.clientId || DEMO.clientId)
    .replaceAll(DEMO.developerKey, own.developerKey || DEMO.developerKey)
    .replaceAll(DEMO.origin, origin)
    .replaceAll(socketOrigin(DEMO.origin), socketOrigin(origin));
}

/** The origin of WebSocket URLs. */
function socketOrigin(origin: string): string {
  return origin.replace(/^http/, "ws");
}
