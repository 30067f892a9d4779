import { castVoteForViewer } from "#worker/services/polls/votes.ts";
import { type VoteOutcome, voteResultFrame } from "./frames.ts";
import type { ViewerFrame } from "./relay.protocol.ts";

const SIGN_IN: VoteOutcome = { ok: false, code: "unauthenticated", message: "Connect with a ticket to vote" };

/** Casts a viewer's vote; returns the result's frame. */
export async function castVoteFrame(
  env: Env,
  { siteId, channelId }: { siteId: string; channelId: string },
  accountId: string | null,
  { id, pollId, answerId, cost }: Extract<ViewerFrame, { type: "vote" }>,
  upTo: () => number,
): Promise<string> {
  const agreed = cost === undefined ? {} : { cost };
  const cast = (voter: string) =>
    castVoteForViewer(env, siteId, { pollId, accountId: voter, answerId, requestId: id, channelId, ...agreed });
  const outcome = accountId === null ? SIGN_IN : await cast(accountId);
  return voteResultFrame(upTo(), id, outcome);
}
