import { ok, type TifoClient } from "#sdk/client/index.ts";
import { ifMatch } from "#sdk/client/latest.ts";
import { once } from "#studio/api/once.ts";
import type { Session } from "#studio/session/session.ts";
import { answersOf, changesAnswers, correctIdOf, fieldsOf, type PollDraft } from "./draft.ts";
import { type LoadedPoll, tagged } from "./queries.ts";

/** Creates a poll, closed: it is opened when the show is ready for it. */
export async function createPoll({ client, siteId }: Pick<Session, "client" | "siteId">, draft: PollDraft): Promise<LoadedPoll> {
  const body = { ...fieldsOf(draft), siteId, open: false, answers: answersOf(draft) };
  const created = await tagged(client.api.POST("/poll/v3", { body, ...once }));
  const correctAnswerId = correctIdOf(draft, created.poll.answers);
  if (correctAnswerId === null) return created;
  // Its answers have ids only now.
  const path = { id: created.poll._id };
  return tagged(client.api.PATCH("/poll/v3/{id}", { params: { path }, body: { correctAnswerId }, headers: ifMatch(created.etag) }));
}

/** Saves what was changed since the poll was loaded; a 412 if somebody else has changed it. */
export async function savePoll(client: TifoClient, draft: PollDraft, { poll, etag }: LoadedPoll): Promise<LoadedPoll> {
  const params = { path: { id: poll._id } };
  const { settled, correctAnswerId: known } = poll;
  const fields = fieldsOf(draft);
  // A correct answer that is removed must be unset before.
  const kept = answersOf(draft).some(({ _id }) => _id === known);
  const first = { ...fields, ...(settled === null && !kept && { correctAnswerId: null }) };
  let saved = await tagged(client.api.PATCH("/poll/v3/{id}", { params, body: first, headers: ifMatch(etag) }));
  if (changesAnswers(draft, poll)) {
    await ok(client.api.PUT("/poll/v3/{id}/answers", { params, body: answersOf(draft), headers: ifMatch(saved.etag) }));
    saved = await tagged(client.api.GET("/poll/v3/{id}", { params }));
  }
  if (settled !== null) return saved;
  const correctAnswerId = correctIdOf(draft, saved.poll.answers);
  if (draft.type !== "trivia" || correctAnswerId === saved.poll.correctAnswerId) return saved;
  return tagged(client.api.PATCH("/poll/v3/{id}", { params, body: { correctAnswerId }, headers: ifMatch(saved.etag) }));
}
