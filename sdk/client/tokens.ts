/** The tokens of a session. `jwt` is valid for ten minutes; `refreshToken` can be exchanged once for the next pair. */
export interface Tokens {
  jwt: string;
  refreshToken: string;
}

/** Stores a session between visits; the default keeps it for the lifetime of the client. */
export interface TokenStore {
  get(): Tokens | null;
  set(tokens: Tokens | null): void;
}

export function memoryTokens(): TokenStore {
  let kept: Tokens | null = null;
  return {
    get: () => kept,
    set(tokens) {
      kept = tokens;
    },
  };
}

/** Runs `work` under a lock that all tabs share, if the platform supports it. */
export async function withTabLock<T>(name: string, work: () => Promise<T>): Promise<T> {
  const locks = globalThis.navigator?.locks;
  // A page with an opaque origin, such as a sandboxed frame, shares nothing and may not request a lock.
  return locks && globalThis.origin !== "null" ? locks.request(name, work) : work();
}
