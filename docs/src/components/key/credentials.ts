import { storedSandbox, valuesOf } from "../sandbox/sandbox.ts";

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
  /** What else in the samples is replaced: ids and accounts of the reader's sandbox. */
  values?: [demo: string, own: string][];
}

const KEY = "tifo.credentials";
export const NONE: Credentials = { clientId: "", developerKey: "", origin: "" };

/** The credentials stored in this tab; without any, those of the reader's sandbox. */
export function storedCredentials(): Credentials {
  const typed = typedCredentials();
  if (typed.clientId !== "" || typed.developerKey !== "") return typed;
  const sandbox = storedSandbox();
  if (!sandbox) return typed;
  return { clientId: sandbox.siteId, developerKey: sandbox.developerKey, origin: typed.origin, values: valuesOf(sandbox) };
}

/** What the reader has entered in this tab. */
export function typedCredentials(): Credentials {
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
  const withIds = (own.values ?? []).reduce((text, [demo, value]) => text.replaceAll(demo, value), sample);
  return withIds
    .replaceAll(DEMO.clientId, own.clientId || DEMO.clientId)
    .replaceAll(DEMO.developerKey, own.developerKey || DEMO.developerKey)
    .replaceAll(DEMO.origin, origin)
    .replaceAll(socketOrigin(DEMO.origin), socketOrigin(origin));
}

/** The origin of WebSocket URLs. */
function socketOrigin(origin: string): string {
  return origin.replace(/^http/, "ws");
}
