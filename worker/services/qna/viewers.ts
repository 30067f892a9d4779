import { and, eq, gt, isNull, sql } from "drizzle-orm";
import { siteDb } from "#db/databases.ts";
import { accounts } from "#db/schema/accounts.ts";
import { broadcasts } from "#db/schema/overlays.ts";
import { questions } from "#db/schema/engagement/questions.ts";
import { questionBoardOf } from "#worker/durable-objects/stubs.ts";
import type { SentQuestion } from "#worker/durable-objects/relay/relay.protocol.ts";
import { Failure } from "#worker/lib/errors.ts";
import { newId } from "#worker/lib/ids.ts";
import { moderatesChannel } from "#worker/lib/roles.ts";
import { nudgeLogs, ownRows } from "#worker/services/core/context.ts";
import { systemCtx } from "#worker/services/core/system.ts";
import { clearBroadcasts } from "#worker/services/overlays/broadcasts.ts";
import { publicColumns } from "./question-rows.ts";
import { isListed, type QuestionState } from "./question-state.ts";
import { toSentQuestion } from "./schemas.ts";

/** A question whose viewers are notified. */
interface ChangedQuestion {
  id: string;
  channelId: string;
  state: QuestionState;
  mergedInto: string | null;
}

/** Brings the viewers' screens up to date with a decision on a question. Idempotent. */
export async function syncViewers(env: Env, siteId: string, question: ChangedQuestion): Promise<void> {
  const { id, channelId, mergedInto } = question;
  await Promise.all([
    questionBoardOf(env, siteId, channelId).changed([id, ...(await relatedTo(env, siteId, mergedInto))]),
    isListed(question.state) ? undefined : clearFromScreen(env, siteId, id),
  ]);
}

/** A merge also changes its target, and the questions that were merged into the merged one. */
async function relatedTo(env: Env, siteId: string, target: string | null): Promise<string[]> {
  if (target === null) return [];
  const rows = await siteDb(env, siteId)
    .select({ id: questions.id })
    .from(questions)
    .where(and(eq(questions.siteId, siteId), eq(questions.mergedInto, target)));
  return [target, ...rows.map((row) => row.id)];
}

/** Clears the broadcasts that show a question, which are broadcasts of an overlay with the question's id. */
async function clearFromScreen(env: Env, siteId: string, questionId: string): Promise<void> {
  const now = Date.now();
  const db = siteDb(env, siteId);
  const active = await db
    .selectDistinct({ id: broadcasts.id })
    .from(broadcasts)
    .where(
      and(eq(broadcasts.siteId, siteId), eq(broadcasts.overlayId, questionId), gt(broadcasts.endsAt, now), isNull(broadcasts.clearedAt)),
    );
  const ctx = systemCtx({ env, db, now }, siteId, `system-${newId(now)}`);
  for (const { id } of active) {
    // Another call may have cleared it since.
    await clearBroadcasts(ctx, { broadcastId: id }).catch((error: unknown) => {
      if (!(error instanceof Failure && error.code === "not_found")) throw error;
    });
  }
  nudgeLogs(ctx);
  // Not awaited, because the log may be busy with the event that led here; the cron makes up for a failed nudge.
  void ctx.finish().catch(() => undefined);
}

/** Questions as all viewers of a channel receive them, by id; those that are deleted or not public are missing. */
export async function readSentQuestions(
  env: Env,
  { siteId, channelId }: { siteId: string; channelId: string },
  ids: string[],
): Promise<Map<string, SentQuestion & { revision: number }>> {
  const rows = await siteDb(env, siteId)
    .select(publicColumns)
    .from(questions)
    .where(and(ownRows({ siteId }, questions, ids), sql`+${questions.channelId} = ${channelId}`));
  return new Map(
    rows.flatMap((row) => {
      const sent = toSentQuestion(row);
      return sent ? [[row.id, { ...sent, revision: row.revision }]] : [];
    }),
  );
}

/** The accounts whose roles let them see a channel's questions before they are public. */
export async function readQuestionModerators(env: Env, siteId: string, channelId: string): Promise<string[]> {
  const staff = await siteDb(env, siteId)
    .select({ id: accounts.id, roles: accounts.roles })
    .from(accounts)
    .where(and(eq(accounts.siteId, siteId), sql`${accounts.roles} <> '[]'`));
  return staff.filter(({ roles }) => moderatesChannel(roles, "Question_Answer_Moderator", channelId, "read")).map(({ id }) => id);
}
