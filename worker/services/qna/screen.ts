import { sql } from "drizzle-orm";
import { questions } from "#db/schema/engagement/questions.ts";
import type { OverlayContent } from "#db/types.ts";
import { orUnavailable } from "#worker/durable-objects/stubs.ts";
import { conflict } from "#worker/lib/errors.ts";
import { newId } from "#worker/lib/ids.ts";
import { commitIfUnchanged, type Ctx, whereVersion } from "#worker/services/core/context.ts";
import { type BroadcastEvent, insertRows, sendBroadcast, type SentBroadcast } from "#worker/services/overlays/broadcasts.ts";
import { buildBroadcast } from "#worker/services/overlays/build-broadcast.ts";
import { findModerated } from "./question-rows.ts";
import { isListed } from "./question-state.ts";
import { QUESTION_HTML } from "./question-overlay.ts";
import type { QuestionBroadcastInput } from "./schemas.ts";

const LATE = "The request was accepted, but the channel did not respond; it will be delivered as soon as the channel is available";

/** Shows a public question on its channel's screens, as a broadcast of an overlay that has the question's id. */
export async function showQuestion(
  ctx: Ctx,
  id: string,
  { duration, position, kind }: QuestionBroadcastInput,
): Promise<{ broadcastId: string; broadcasts: SentBroadcast[] }> {
  const question = await findModerated(ctx, id);
  if (!isListed(question.state)) throw conflict(`Only approved or answered questions can be shown; this one is ${question.state}`);
  const overlay = {
    id,
    siteId: ctx.siteId,
    name: "Question",
    description: "",
    type: "template" as const,
    duration,
    contents: [kind === "kit" ? kitQuestion(position) : { kind, html: QUESTION_HTML, position }],
    cta: null,
    created: question.created,
    modified: question.modified,
    version: question.version,
  };
  const variables = {
    text: question.text,
    name: question.name ?? "",
    initial: initialOf(question.name),
    upvotes: upvotesText(question.upvotes),
    ...(kind === "kit" ? { votes: question.upvotes } : {}),
  };
  const broadcast = buildBroadcast(newId(ctx.now), ctx.now, overlay, { duration, variables, priority: 0, personal: true });
  const event: BroadcastEvent = { channelIds: [question.channelId], broadcast };
  // Changes nothing, but fails if the question has been dismissed in the meantime.
  const guard = ctx.db
    .update(questions)
    .set({ version: sql`${questions.version}` })
    .where(whereVersion(ctx, questions, question));
  const eventIds = await commitIfUnchanged(ctx, [guard, insertRows(ctx, event)], {
    type: "overlay.broadcast",
    resource: `overlay/${id}`,
    data: { ...event },
  });
  const sent = await orUnavailable(sendBroadcast(ctx.env, ctx.siteId, event), LATE);
  ctx.emitted.completedEventIds.push(...eventIds);
  return { broadcastId: broadcast.broadcastId, broadcasts: sent };
}

/** Filled in by the broadcast's variables of the same names. */
function kitQuestion(position: QuestionBroadcastInput["position"]): OverlayContent {
  return { kind: "kit", template: "question", position };
}

function initialOf(name: string | null): string {
  return [...(name ?? "").trim()][0]?.toUpperCase() ?? "?";
}

function upvotesText(upvotes: number): string {
  return upvotes === 1 ? "1 vote" : `${upvotes} votes`;
}
