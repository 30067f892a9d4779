/** Exact quotas, kept by the Limiter object of a site; `per` says what is counted apart. */
export const LIMITS = {
  signIn: { quota: 5, window: 60, per: "account and address", description: "Wrong sign-ins" },
  signInAddress: { quota: 100, window: 60, per: "address", description: "Wrong sign-ins, of whatever accounts" },
  createAccount: { quota: 600, window: 60, per: "address", description: "New accounts" },
  resetPassword: { quota: 60, window: 60, per: "address", description: "Password resets" },
  broadcast: { quota: 6000, window: 60, per: "site", description: "Broadcasts and clears" },
  upload: { quota: 300, window: 60, per: "site", description: "Uploaded files" },
  exportMembers: { quota: 60, window: 3600, per: "account", description: "Exports of members" },
  ticket: { quota: 60, window: 60, per: "account", description: "Realtime tickets" },
  tvCode: { quota: 60, window: 60, per: "address", description: "TV codes" },
  searchGames: { quota: 60, window: 60, per: "address", description: "Searches for games" },
  lookUpVideo: { quota: 60, window: 60, per: "address", description: "Look-ups of videos at their players" },
  redeem: { quota: 20, window: 60, per: "account", description: "Unknown access and TV codes" },
  miss: { quota: 60, window: 60, per: "address", description: "Unknown access and TV codes" },
  missLink: { quota: 20, window: 600, per: "address", description: "Unknown magic links" },
  guessLink: { quota: 600, window: 600, per: "deployment", description: "Unknown magic links" },
  guessAccessCode: { quota: 6000, window: 600, per: "site", description: "Unknown access codes" },
  guessTvCode: { quota: 6000, window: 600, per: "site", description: "Unknown TV codes" },
} as const satisfies Record<string, LimitPolicy>;

interface LimitPolicy {
  quota: number;
  /** Seconds. */
  window: number;
  per: string;
  description: string;
}

export type LimitName = keyof typeof LIMITS;

export const LIMIT_NAMES = Object.keys(LIMITS).filter((name): name is LimitName => name in LIMITS);

/** What is left of a limit; `reset` is the seconds until the window ends. */
export interface LimitState {
  allowed: boolean;
  remaining: number;
  reset: number;
}
