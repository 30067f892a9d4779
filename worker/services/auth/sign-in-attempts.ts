import { and, eq, inArray, lt, sql } from "drizzle-orm";
import type { BatchItem } from "drizzle-orm/batch";
import type { SIGN_IN_FAILURES } from "#db/enums.ts";
import { accounts, type FailureRow, signInFailures, signInPlaces } from "#db/schema/accounts.ts";
import { lookUpHashes, sha256, verifyPassword } from "#worker/lib/crypto/crypto.ts";
import { Failure } from "#worker/lib/errors.ts";
import type { LimitName, Slot } from "#worker/lib/limits.ts";
import { asSystem } from "#worker/services/core/system.ts";
import { commit, type Ctx, type NewEvent } from "#worker/services/core/context.ts";
import { leaveOutCopies, type Shard } from "#worker/services/core/databases.ts";
import { returnSlots, takeSlots } from "#worker/services/core/limits.ts";
import { GLOBAL_AUDIENCE } from "./tokens.ts";

const PURPOSE = "sign-in place";
const DAY_MS = 24 * 60 * 60 * 1000;
/** How long a place stays known after the last sign-in from it. */
const KNOWN_MS = 90 * DAY_MS;
const MINUTE_MS = 60_000;
/** The most failed-sign-in events per site and minute; the rest wait for the next minute. */
const MAX_EVENTS = 50;

type Reason = (typeof SIGN_IN_FAILURES)[number];

/**
 * One attempt to authenticate with a password and possibly a code. It is counted before anything is verified: per account and address, per
 * address, and per account from anywhere. The last count is separate for each place (network or device) that the account has signed in
 * from, so a flood from elsewhere doesn't lock the owner out. An address without an account is counted the same way.
 */
export class SignInAttempt {
  readonly #ctx: Ctx;
  readonly #email: string;
  readonly #address: string;
  /** Keyed hashes of the caller's network and device, one per secret, that of the current secret first. */
  readonly #places: string[][];
  readonly #taken: [Slot, ...Slot[]][] = [];
  #known: string[] = [];

  private constructor(ctx: Ctx, email: string, address: string, places: string[][]) {
    this.#ctx = ctx;
    this.#email = email;
    this.#address = address;
    this.#places = places;
  }

  /** Counts the attempt per address; `ctx.siteId` is the site or "global". */
  static async begin(ctx: Ctx, email: string, address: string): Promise<SignInAttempt> {
    const attempt = new SignInAttempt(ctx, email, address, await placesOf(ctx, email, address));
    await attempt.#take([
      { name: "signIn", key: await sha256(`${email}\n${address}`), shard: address },
      { name: "signInAddress", key: address },
    ]);
    return attempt;
  }

  /** Selects which of the caller's places are known to the account; run it in one batch with reading the account. */
  knownPlaces() {
    return this.#ctx.db
      .select({ hash: signInPlaces.hash, accountId: signInPlaces.accountId })
      .from(signInPlaces)
      .where(and(eq(signInPlaces.audience, this.#ctx.siteId), inArray(signInPlaces.hash, this.#places.flat())));
  }

  /** Counts the attempt for the account. */
  async admit(person: { id: string } | undefined, known: { hash: string; accountId: string }[]): Promise<void> {
    this.#known = known.filter(({ accountId }) => accountId === person?.id).map(({ hash }) => hash);
    await this.takeForAccount("signInAccount");
  }

  /** Takes a slot of the caller's first known place that has any left, else of all unknown places together. */
  async takeForAccount(name: LimitName): Promise<void> {
    const account = await sha256(`${this.#ctx.siteId}\n${this.#email}`);
    for (const place of this.#known) {
      try {
        return await this.#take([{ name, key: `${account} ${place}` }]);
      } catch (error) {
        // The device may be known even if the network isn't, and vice versa.
        if (place === this.#known.at(-1) || !(error instanceof Failure)) throw error;
      }
    }
    await this.#take([{ name, key: account }]);
  }

  async #take(slots: [Slot, ...Slot[]]): Promise<void> {
    await takeSlots(this.#ctx, slots);
    this.#taken.push(slots);
  }

  /** Gives the slots back: successful attempts don't count. */
  async refund(): Promise<void> {
    await Promise.all(this.#taken.splice(0).map((slots) => returnSlots(this.#ctx, slots)));
  }

  /** Remembers the place that the account signed in from; commit it with the session. */
  remember(person: { id: string }): BatchItem<"sqlite"> {
    return rememberPlaces(
      this.#ctx,
      person.id,
      this.#places.map(([current = ""]) => current),
    );
  }

  /** Records a failure for the event log, after the response, with the same query whether or not the account exists. */
  recordFailure(reason: Reason): void {
    const { db, siteId, now } = this.#ctx;
    if (siteId === GLOBAL_AUDIENCE) return;
    const { siteId: ofSite, accountId, address, reason: why, minute, attempts } = signInFailures;
    const values = sql`${this.#address}, ${reason}, ${Math.floor(now / MINUTE_MS)}, 1`;
    const insert = db
      .insert(signInFailures)
      .select(sql`select site_id, id, ${values} from ${accounts} where site_id = ${siteId} and email = ${this.#email}`)
      .onConflictDoUpdate({ target: [ofSite, accountId, address, why, minute], set: { attempts: sql`${attempts} + 1` } });
    this.#ctx.defer(insert.run());
  }
}

/** Verifies the password of a signed-in caller, counted like a sign-in; throws `wrong` if it doesn't match. */
export async function requirePassword(
  ctx: Ctx,
  account: { id: string; email: string; passwordHash: string | null },
  password: string,
  address: string,
  wrong: Failure,
): Promise<SignInAttempt> {
  const attempt = await SignInAttempt.begin(ctx, account.email, address);
  await attempt.admit(account, await attempt.knownPlaces());
  if (account.passwordHash === null || !(await verifyPassword(password, account.passwordHash)).valid) {
    attempt.recordFailure("password");
    throw wrong;
  }
  await attempt.refund();
  return attempt;
}

/** The hashes of the caller's network and device for `rememberPlaces`. */
export async function newPlaces(ctx: Ctx, email: string, address: string): Promise<string[]> {
  return (await placesOf(ctx, email, address)).map(([current = ""]) => current);
}

/** Keyed hashes of the caller's network and device, one per secret, that of the current secret first. */
async function placesOf(ctx: Ctx, email: string, address: string): Promise<string[][]> {
  const hashes = (kind: string, value: string) => lookUpHashes(ctx.env, PURPOSE, [ctx.siteId, email, kind, value].join("\n"));
  const network = await hashes("network", address);
  return ctx.deviceId ? [network, await hashes("device", ctx.deviceId)] : [network];
}

export function rememberPlaces(ctx: Ctx, accountId: string, hashes: string[]): BatchItem<"sqlite"> {
  return ctx.db
    .insert(signInPlaces)
    .values(hashes.map((hash) => ({ hash, audience: ctx.siteId, accountId, seen: ctx.now })))
    .onConflictDoUpdate({ target: signInPlaces.hash, set: { accountId, seen: ctx.now } });
}

/** Publishes the failures of past minutes: one event per account, address and minute, up to `MAX_EVENTS` per site. */
export async function publishSignInFailures(worker: Shard & Pick<Ctx, "now">): Promise<void> {
  const { db, now } = worker;
  // A request of the previous minute may still be writing.
  const past = lt(signInFailures.minute, Math.floor(now / MINUTE_MS) - 1);
  await db.delete(signInFailures).where(lt(signInFailures.minute, Math.floor((now - DAY_MS) / MINUTE_MS)));
  const sites = await db.selectDistinct({ siteId: signInFailures.siteId }).from(signInFailures).where(past);
  for (const { siteId } of await leaveOutCopies(worker, sites)) {
    const rows = await db
      .select()
      .from(signInFailures)
      .where(and(eq(signInFailures.siteId, siteId), past))
      .orderBy(signInFailures.minute)
      .limit(MAX_EVENTS);
    await asSystem(worker, siteId, (ctx) =>
      commit(
        ctx,
        rows.map((row) => deletionOf(ctx, row)),
        ...rows.map(failureEvent),
      ),
    );
  }
}

function deletionOf(ctx: Ctx, row: FailureRow): BatchItem<"sqlite"> {
  const { siteId, accountId, address, reason, minute } = signInFailures;
  return ctx.db
    .delete(signInFailures)
    .where(
      and(eq(siteId, ctx.siteId), eq(accountId, row.accountId), eq(address, row.address), eq(reason, row.reason), eq(minute, row.minute)),
    );
}

function failureEvent({ siteId, accountId, address, reason, minute, attempts }: FailureRow): NewEvent {
  const data = { _id: accountId, siteId, address, reason, attempts, minute: minute * MINUTE_MS };
  return { type: "account.signInFailed", resource: `account/${accountId}`, data };
}

/** Deletes places without a sign-in for 90 days. */
export async function prunePlaces({ db, now }: Pick<Ctx, "db" | "now">): Promise<void> {
  await db.delete(signInPlaces).where(lt(signInPlaces.seen, now - KNOWN_MS));
}
