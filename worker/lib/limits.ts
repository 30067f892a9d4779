import { shardOf } from "./shard.ts";

/** Exact quotas, counted by Limiter objects; `per` says what is counted separately. */
export const LIMITS = {
  signIn: { quota: 5, window: 60, per: "account and address", description: "Failed sign-ins" },
  signInAddress: { quota: 100, window: 60, per: "address", description: "Failed sign-ins, for all accounts" },
  // In both, all places where the account has never signed in count as one.
  signInAccount: { quota: 100, window: 3600, per: "e-mail and known place", description: "Failed sign-ins, from all addresses" },
  totp: { quota: 10, window: 3600, per: "e-mail and known place", description: "Wrong one-time codes" },
  createAccount: { quota: 600, window: 60, per: "address", description: "New accounts" },
  createIntent: { quota: 600, window: 60, per: "address", description: "Sign-ins through a partner" },
  resetPassword: { quota: 60, window: 60, per: "address", description: "Password resets" },
  verifyEmail: { quota: 60, window: 60, per: "address", description: "Email verifications" },
  broadcast: { quota: 6000, window: 60, per: "site", description: "Broadcasts and clears" },
  award: { quota: 6000, window: 60, per: "site", description: "Calls that award points" },
  segmentFigures: { quota: 20, window: 60, per: "site", description: "Figures of segments" },
  segmentSize: { quota: 60, window: 60, per: "site", description: "Segment sizes" },
  upload: { quota: 300, window: 60, per: "site", description: "Uploaded files" },
  importAccounts: { quota: 300, window: 60, per: "site", description: "Imports of accounts" },
  exportMembers: { quota: 60, window: 3600, per: "account", description: "Member exports" },
  exportAccount: { quota: 20, window: 3600, per: "account", description: "Exports of an account's data" },
  ticket: { quota: 60, window: 60, per: "account", description: "Realtime tickets" },
  question: { quota: 10, window: 60, per: "account", description: "Questions" },
  upvote: { quota: 120, window: 60, per: "account", description: "Upvotes given and taken back" },
  tvCode: { quota: 60, window: 60, per: "address", description: "TV codes" },
  searchGames: { quota: 60, window: 60, per: "address", description: "Game searches" },
  manifest: { quota: 1800, window: 60, per: "address", description: "Playlists that have to be loaded" },
  lookUpVideo: { quota: 60, window: 60, per: "address", description: "Video metadata lookups" },
  redeem: { quota: 20, window: 60, per: "account", description: "Unknown access and TV codes" },
  miss: { quota: 60, window: 60, per: "address", description: "Unknown access and TV codes" },
  missLink: { quota: 20, window: 600, per: "address", description: "Unknown magic links" },
  guessLink: { quota: 600, window: 600, per: "deployment", description: "Unknown magic links" },
  guessLinkAtMost: { quota: 3000, window: 600, per: "deployment", description: "Unknown short magic links, from all callers" },
  guessAccessCode: { quota: 6000, window: 600, per: "site", description: "Unknown access codes" },
  createSandbox: { quota: 60, window: 86_400, per: "address", description: "New sandboxes" },
  createSandboxes: { quota: 600, window: 3600, per: "deployment", description: "New sandboxes" },
  useChallenge: { quota: 1, window: 600, per: "challenge", description: "Sandboxes of one proof of work" },
  claimSandbox: { quota: 10, window: 86_400, per: "address", description: "Claimed sandboxes" },
  claimSandboxes: { quota: 200, window: 86_400, per: "deployment", description: "Claimed sandboxes" },
  changeSandbox: { quota: 5000, window: 259_200, per: "sandbox", description: "Changes of a sandbox" },
  uploadToSandbox: { quota: 20, window: 259_200, per: "sandbox", description: "Files uploaded to a sandbox" },
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

/** One counter of a limit, identified by `key`; `shard` (default: the key) decides which object counts it. */
export interface Slot {
  name: LimitName;
  key: string;
  shard?: string;
  /** In place of the limit's own quota. */
  quota?: number;
}

/** Quotas of this size or less are for one person's mistakes, such as wrong passwords: a tenth would be too few for anybody. */
const SMALL_QUOTA = 10;

/** A sandbox has a tenth of the usual quotas, except for small ones and those of sandboxes themselves. */
export function sandboxQuota(name: LimitName): number {
  const { quota, per } = LIMITS[name];
  return per === "sandbox" || quota <= SMALL_QUOTA ? quota : Math.ceil(quota / 10);
}

const WITHOUT_SHARDS = new Set<string>(["site", "deployment", "sandbox"]);

/** The Limiter objects of a site that can be named without knowing who has called. */
export function unshardedLimiters(siteId: string): string[] {
  return LIMIT_NAMES.filter((name) => WITHOUT_SHARDS.has(LIMITS[name].per)).map((name) => limiterName(siteId, { name, key: "" }));
}

const SHARDS = 16;

/**
 * The name of the Limiter object that counts a slot of `scope`, a site or the deployment. Each purpose has its own objects, so that a flood
 * of one can't slow down another; public purposes are sharded, so that a flood only slows down a part of them.
 */
export function limiterName(scope: string, { name, key, shard = key }: Slot): string {
  const { per } = LIMITS[name];
  // A sign-in takes both, for the same address, in one call.
  const purpose = name === "signInAddress" ? "signIn" : name;
  return WITHOUT_SHARDS.has(per) ? `${scope}:${purpose}` : `${scope}:${purpose}:${shardOf(shard, SHARDS)}`;
}

export const LIMIT_NAMES = Object.keys(LIMITS).filter((name): name is LimitName => name in LIMITS);

/** What is left of a limit; `reset` is the seconds until the window ends. */
export interface LimitState {
  allowed: boolean;
  quota: number;
  remaining: number;
  reset: number;
  /** Whether a rejection holds until the window ends; false while the last slot taken may still be given back. */
  final: boolean;
}
