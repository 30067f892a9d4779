import { relayName } from "#worker/durable-objects/channel/channel.protocol.ts";
import { logError } from "#worker/lib/log.ts";
import { withTimeout } from "#worker/lib/time/with-timeout.ts";
import { branchName, branchOf, type Outcome } from "./branch.protocol.ts";
import { outcomeOf } from "./outcome.ts";

const ASK_MS = 2_000;
/** A branch has waited for its relays as long as that. */
const BRANCH_MS = ASK_MS + 500;

type RelayStub = ReturnType<Env["RELAY"]["getByName"]>;
type BranchStub = ReturnType<Env["BRANCH"]["getByName"]>;
type Namespaces = Pick<Env, "RELAY" | "BRANCH">;

/** A call to relays: to one directly, and to several through their branch. */
export interface RelayCall<T> {
  direct: (stub: RelayStub, relay: number) => Promise<T>;
  through: (stub: BranchStub, relays: number[]) => Promise<Outcome<T>[]>;
}

/** Calls relays of a channel: the first ones directly, the others through their branches. One outcome per relay, in their order. */
export async function callRelays<T>(env: Namespaces, channel: string, relays: number[], calls: RelayCall<T>): Promise<Outcome<T>[]> {
  const outcomes = new Map<number, Outcome<T>>();
  const callDirectly = async (relay: number) => {
    outcomes.set(relay, await outcomeOf(calls.direct(env.RELAY.getByName(relayName(channel, relay)), relay), ASK_MS));
  };
  const callThrough = async (branch: number, members: number[]) => {
    try {
      const returned = await withTimeout(calls.through(env.BRANCH.getByName(branchName(channel, branch)), members), BRANCH_MS);
      for (const [i, relay] of members.entries()) outcomes.set(relay, returned[i] ?? MISSING);
    } catch (error) {
      // The relays may be fine.
      logError("branch_call_failed", error, { channel, branch });
      await Promise.all(members.map(callDirectly));
    }
  };
  const { direct, byBranch } = groupRelays(relays);
  await Promise.all([...direct.map(callDirectly), ...[...byBranch].map(([branch, members]) => callThrough(branch, members))]);
  return relays.map((relay) => outcomes.get(relay) ?? MISSING);
}

const MISSING: Outcome<never> = { ok: false, late: false, error: "No response for this relay" };

function groupRelays(relays: number[]): { direct: number[]; byBranch: Map<number, number[]> } {
  const direct: number[] = [];
  const byBranch = new Map<number, number[]>();
  for (const relay of relays) {
    const branch = branchOf(relay);
    if (branch === null) direct.push(relay);
    else byBranch.set(branch, [...(byBranch.get(branch) ?? []), relay]);
  }
  return { direct, byBranch };
}
