import type { Tokens, TokenStore } from "#sdk/client/tokens.ts";
import { type KeyValueStorage, recall, remember } from "#studio/ui/storage.ts";

const PREFIX = "tifo.studio.session.";

/** A site's session, which all tabs of the browser share. */
export interface SharedTokens extends TokenStore {
  /** Calls `notify` whenever this tab or another signs in, refreshes or signs out. */
  subscribe: (notify: () => void) => () => void;
}

/**
 * Keeps tokens in the storage of Studio's origin. Overlays and everything else that customers write are shown in frames with an
 * opaque origin, which have no access to it.
 */
export function sharedTokens(siteId: string, storage: KeyValueStorage, events: Pick<EventTarget, "addEventListener">): SharedTokens {
  const key = PREFIX + siteId;
  const listeners = new Set<() => void>();
  // Also works if the browser blocks storage, until the page closes.
  let kept = parseTokens(recall(storage, key));
  const notifyAll = () => listeners.forEach((notify) => notify());
  events.addEventListener("storage", (event) => {
    if (!("key" in event) || (event.key !== key && event.key !== null)) return;
    kept = parseTokens(recall(storage, key));
    notifyAll();
  });
  return {
    get: () => kept,
    set(tokens) {
      kept = tokens && { jwt: tokens.jwt, refreshToken: tokens.refreshToken };
      remember(storage, key, kept && JSON.stringify(kept));
      notifyAll();
    },
    subscribe(notify) {
      listeners.add(notify);
      return () => listeners.delete(notify);
    },
  };
}

function parseTokens(text: string | null): Tokens | null {
  if (text === null) return null;
  try {
    const value: unknown = JSON.parse(text);
    if (typeof value !== "object" || value === null || !("jwt" in value) || !("refreshToken" in value)) return null;
    const { jwt, refreshToken } = value;
    return typeof jwt === "string" && typeof refreshToken === "string" ? { jwt, refreshToken } : null;
  } catch {
    return null;
  }
}

/** The account that a token is for, or null. Only the server verifies tokens. */
export function accountIdOf(jwt: string): string | null {
  try {
    const payload: unknown = JSON.parse(atob((jwt.split(".")[1] ?? "").replaceAll("-", "+").replaceAll("_", "/")));
    return typeof payload === "object" && payload !== null && "sub" in payload && typeof payload.sub === "string" ? payload.sub : null;
  } catch {
    return null;
  }
}
