import { randomToken } from "#worker/lib/crypto/crypto.ts";
import { readSigned, signContent } from "#worker/lib/crypto/signed.ts";
import { Failure, invalid } from "#worker/lib/errors.ts";
import { LIMITS } from "#worker/lib/limits.ts";
import type { Ctx } from "#worker/services/core/context.ts";
import { takeSlot } from "#worker/services/core/limits.ts";
import type { SandboxProof } from "./schemas.ts";
import { numberOf } from "#worker/lib/variables.ts";

const PURPOSE = "sandbox challenge";
/** As long as the limiter remembers a challenge that was used. */
const LIFETIME_MS = LIMITS.useChallenge.window * 1000;
/** More would take a browser hours. */
const MAX_BITS = 30;

/** How many leading bits of the hash must be zero; 0 requires no proof. */
function bitsOf(env: Pick<Env, "TIFO_SANDBOX_WORK">): number {
  return Math.min(numberOf(env, "TIFO_SANDBOX_WORK"), MAX_BITS);
}

/** A challenge that isn't stored: its signature proves that this deployment issued it. */
export async function newChallenge({ env, now }: Pick<Ctx, "env" | "now">) {
  const [bits, expires] = [bitsOf(env), now + LIFETIME_MS];
  return { challenge: await signContent(env, PURPOSE, [bits, expires, randomToken(12)].join("~")), bits, expires };
}

/** Rejects what isn't the unused solution of a current challenge. */
export async function requireProof(ctx: Ctx, proof: SandboxProof | undefined): Promise<void> {
  const bits = bitsOf(ctx.env);
  if (bits === 0) return;
  // A request without a body is validated as one without fields.
  if (!proof?.challenge)
    throw invalid("challenge", "Creating a sandbox takes a proof of work: GET /site/v1/sandbox/challenge, and send its solution");
  const content = await readSigned(ctx.env, PURPOSE, proof.challenge);
  const [signedBits, expires, nonce] = (content ?? "").split("~");
  // A challenge from before the operator raised the difficulty is too easy.
  if (nonce === undefined || Number(expires) <= ctx.now || Number(signedBits) < bits) {
    throw invalid("challenge", "This challenge isn't valid, or no longer; get a new one");
  }
  if (!(await solves(proof, bits))) throw invalid("solution", `The hash doesn't begin with ${bits} zero bits`);
  await useOnce(ctx, nonce);
}

async function solves({ challenge, solution }: SandboxProof, bits: number): Promise<boolean> {
  const hash = new DataView(await crypto.subtle.digest("SHA-256", new TextEncoder().encode(`${challenge}.${solution}`)));
  return Math.clz32(hash.getUint32(0)) >= bits;
}

async function useOnce(ctx: Ctx, nonce: string): Promise<void> {
  try {
    await takeSlot(ctx, "useChallenge", nonce);
  } catch (error) {
    if (!(error instanceof Failure)) throw error;
    throw invalid("challenge", "This challenge has been used; get a new one");
  }
}
