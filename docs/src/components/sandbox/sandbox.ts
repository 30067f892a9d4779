import { forget, recall, remember } from "../../storage.ts";

/** The reader's own site, which exists only in this browser's storage and on the server that created it. */
export interface Sandbox {
  siteId: string;
  developerKey: string;
  channelId: string;
  pollId: string;
  overlayId: string;
  adminEmail: string;
  viewerEmail: string;
  password: string;
  claimToken: string;
  /** Milliseconds since 1970 UTC. */
  expires: number;
}

const KEY = "tifo.sandbox";
const TEXTS = [
  "siteId",
  "developerKey",
  "channelId",
  "pollId",
  "overlayId",
  "adminEmail",
  "viewerEmail",
  "password",
  "claimToken",
] as const satisfies (keyof Sandbox)[];

/** What the samples have in place of the sandbox's ids and accounts. */
const IN_SAMPLES: Record<string, keyof Sandbox> = {
  "5eed0000000000000000c001": "channelId",
  "5eed0000000000000000a001": "overlayId",
  "5eed00000000000000006001": "pollId",
  "admin@demo.example": "adminEmail",
  "demo-admin-pass": "password",
  "viewer@demo.example": "viewerEmail",
  "demo-viewer-pass": "password",
};

/** The reader's sandbox, unless it has expired. */
export function storedSandbox(now = Date.now()): Sandbox | undefined {
  const text = recall(KEY);
  if (text === null) return undefined;
  const sandbox = parseSandbox(text);
  if (sandbox && sandbox.expires > now) return sandbox;
  forget(KEY);
  return undefined;
}

export function keepSandbox(sandbox: Sandbox): void {
  remember(KEY, JSON.stringify(sandbox));
}

export function forgetSandbox(): void {
  forget(KEY);
}

/** What to replace in samples, and by what. */
export function valuesOf(sandbox: Sandbox): [demo: string, own: string][] {
  return Object.entries(IN_SAMPLES).map(([demo, name]) => [demo, String(sandbox[name])]);
}

/** The sandbox in the response to its creation. */
export function sandboxIn(response: unknown): Sandbox {
  const text = (...path: string[]): string => {
    const value = path.reduce<unknown>((at, name) => (typeof at === "object" && at !== null ? Reflect.get(at, name) : undefined), response);
    if (typeof value !== "string") throw new Error(`The response has no ${path.join(".")}.`);
    return value;
  };
  const expires: unknown = typeof response === "object" && response !== null ? Reflect.get(response, "expires") : undefined;
  return {
    siteId: text("site", "_id"),
    developerKey: text("developerKey"),
    channelId: text("channel", "_id"),
    pollId: text("pollId"),
    overlayId: text("overlayId"),
    adminEmail: text("admin", "email"),
    viewerEmail: text("viewer", "email"),
    password: text("password"),
    claimToken: text("claimToken"),
    expires: Number(expires),
  };
}

function parseSandbox(text: string): Sandbox | undefined {
  try {
    const stored: unknown = JSON.parse(text);
    return isSandbox(stored) ? stored : undefined;
  } catch {
    return undefined;
  }
}

function isSandbox(value: unknown): value is Sandbox {
  if (typeof value !== "object" || value === null) return false;
  return TEXTS.every((name) => typeof Reflect.get(value, name) === "string") && typeof Reflect.get(value, "expires") === "number";
}
