/** What signing in answers. `jwt` is good for ten minutes, `refreshToken` brings the next pair, once. */
export interface Tokens {
  jwt: string;
  refreshToken: string;
}

/** Where a session is kept between visits; the default keeps it for as long as the client lives. */
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

/** Does this while no other tab does what has the same name, where the platform keeps tabs apart. */
export async function alone<T>(name: string, work: () => Promise<T>): Promise<T> {
  const locks = globalThis.navigator?.locks;
  // A page without an origin of its own, such as a sandboxed frame, shares nothing and may take no lock.
  return locks && globalThis.origin !== "null" ? locks.request(name, work) : work();
}
