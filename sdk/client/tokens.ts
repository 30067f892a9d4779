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
