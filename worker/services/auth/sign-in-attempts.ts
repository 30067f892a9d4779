import { and, eq, inArray, lt, sql } from "drizzle-orm";
import type { BatchItem } from "drizzle-orm/batch";
import type { SIGN_IN_FAILURES } from "#db/enums.ts";
import { accounts, type FailureRow, signInFailures, signInPlaces } from "#db/schema/index.ts";
import { lookUpHashes, sha256, verifyPassword } from "#worker/lib/crypto/crypto.ts";
import { Failure } from "#worker/lib/errors.ts";
import type { LimitName, Slot } from "#worker/lib/limits.ts";
import { asSystem } from "#worker/services/core/system.ts";
import { commit, type Ctx, type NewEvent } from "#worker/services/core/context.ts";
import { giveBackSlots, takeSlots } from "#worker/services/core/limits.ts";
import { GLOBAL_AUDIENCE } from "./tokens.ts";

const PURPOSE = "sign-in place";
const DAY_MS = 24 * 60 * 60 * 1000;
/** How long a place is known after the last sign-in from there. */
const KNOWN_MS = 90 * DAY_MS;
const MINUTE_MS = 60_000;
/** Events of failed sign-ins that a site's log gets in a minute; the rest wait for the next one. */
const MOST_EVENTS = 50;

type Reason = (typeof SIGN_IN_FAILURES)[number];

/**
 * One attempt to prove who somebody is by a password and perhaps a code. It is counted before anything is verified: per account and
 * address, per address, and per account from wherever it comes. In the last count every place where the account has signed in before, a
 * network or a device, stands for itself and all others count as one: a flood from elsewhere doesn't lock the owner out. An e-mail
 * without an account is counted the same way.
 */
export class SignInAttempt {
  readonly #ctx: Ctx;
  readonly #email: string;
  readonly #address: string;
  /** Keyed hashes of the caller's network and device, under each secret: the first of each is that of the current one. */
  readonly #places: string[][];
  readonly #taken: [Slot, ...Slot[]][] = [];
  #known: string[] = [];

  private constructor(ctx: Ctx, email: string, address: string, places: string[][]) {
    this.#ctx = ctx;
    this.#email = email;
    this.#address = address;
    this.#places = places;
  }

  /** Takes what is counted by address; `ctx.siteId` is the site or "global". */
  static async begin(ctx: Ctx, email: string, address: string): Promise<SignInAttempt> {
    const attempt = new SignInAttempt(ctx, email, address, await placesOf(ctx, email, address));
    await attempt.#take([
      { name: "signIn", key: await sha256(`${email}\n${address}`), shard: address },
      { name: "signInAddress", key: address },
    ]);
    return attempt;
  }

  /** The places of this caller that some account of this e-mail knows: to be read with the account, in one batch. */
  knownPlaces() {
    return this.#ctx.db
      .select({ hash: signInPlaces.hash, accountId: signInPlaces.accountId })
      .from(signInPlaces)
      .where(and(eq(signInPlaces.audience, this.#ctx.siteId), inArray(signInPlaces.hash, this.#places.flat())));
  }

  /** Takes what is counted for the account. */
  async admit(person: { id: string } | undefined, known: { hash: string; accountId: string }[]): Promise<void> {
    this.#known = known.filter(({ accountId }) => accountId === person?.id).map(({ hash }) => hash);
    await this.takeOfAccount("signInAccount");
  }

  /** One of the first of the caller's known places that has any left, else one of all other places together. */
  async takeOfAccount(name: LimitName): Promise<void> {
    const account = await sha256(`${this.#ctx.siteId}\n${this.#email}`);
    for (const place of this.#known) {
      try {
        return await this.#take([{ name, key: `${account} ${place}` }]);
      } catch (refusal) {
        // A device may be known where the network is not, or the other way round.
        if (place === this.#known.at(-1) || !(refusal instanceof Failure)) throw refusal;
      }
    }
    await this.#take([{ name, key: account }]);
  }

  async #take(slots: [Slot, ...Slot[]]): Promise<void> {
    await takeSlots(this.#ctx, slots);
    this.#taken.push(slots);
  }

  /** What was right doesn't count. */
  async giveBack(): Promise<void> {
    await Promise.all(this.#taken.splice(0).map((slots) => giveBackSlots(this.#ctx, slots)));
  }

  /** Remembers where the account was signed in to, with its session. */
  remember(person: { id: string }): BatchItem<"sqlite"> {
    return rememberPlaces(
      this.#ctx,
      person.id,
      this.#places.map(([current = ""]) => current),
    );
  }

  /** Notes a failure, for the site's log. The same is asked of the database whether there is such an account or not, after the response. */
  noteFailure(reason: Reason): void {
    const { db, siteId, now } = this.#ctx;
    if (siteId === GLOBAL_AUDIENCE) return;
    const { siteId: ofSite, accountId, address, reason: why, minute, attempts } = signInFailures;
    const values = sql`${this.#address}, ${reason}, ${Math.floor(now / MINUTE_MS)}, 1`;
    const noted = db
      .insert(signInFailures)
      .select(sql`select site_id, id, ${values} from ${accounts} where site_id = ${siteId} and email = ${this.#email}`)
      .onConflictDoUpdate({ target: [ofSite, accountId, address, why, minute], set: { attempts: sql`${attempts} + 1` } });
    this.#ctx.defer(noted.run());
  }
}

/** Checks the password of somebody who is signed in, counted like a sign-in; `wrong` is thrown where it isn't theirs. */
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
    attempt.noteFailure("password");
    throw wrong;
  }
  await attempt.giveBack();
  return attempt;
}

/** What the caller's network and device will be known by to the account of this e-mail: for `rememberPlaces`. */
export async function newPlaces(ctx: Ctx, email: string, address: string): Promise<string[]> {
  return (await placesOf(ctx, email, address)).map(([current = ""]) => current);
}

/** Keyed hashes of the caller's network and device, under each secret, that of the current one first. */
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

type Worker = Pick<Ctx, "env" | "db" | "now">;

/** Publishes the failures of past minutes, one event per account, address and minute, and of a site so many a minute. */
export async function publishSignInFailures(worker: Worker): Promise<void> {
  const { db, now } = worker;
  // A request that began in the minute before may still be writing.
  const past = lt(signInFailures.minute, Math.floor(now / MINUTE_MS) - 1);
  await db.delete(signInFailures).where(lt(signInFailures.minute, Math.floor((now - DAY_MS) / MINUTE_MS)));
  const sites = await db.selectDistinct({ siteId: signInFailures.siteId }).from(signInFailures).where(past);
  for (const { siteId } of sites) {
    const rows = await db
      .select()
      .from(signInFailures)
      .where(and(eq(signInFailures.siteId, siteId), past))
      .orderBy(signInFailures.minute)
      .limit(MOST_EVENTS);
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

/** Deletes places that nobody has signed in from for long. */
export async function prunePlaces({ db, now }: Pick<Ctx, "db" | "now">): Promise<void> {
  await db.delete(signInPlaces).where(lt(signInPlaces.seen, now - KNOWN_MS));
}
