import { ok, type Schemas, type TifoClient } from "#sdk/client/index.ts";
import { ifMatch, loaded } from "#sdk/client/latest.ts";
import { once } from "#studio/api/once.ts";
import type { Session } from "#studio/session/session.ts";
import { answersOf, changesAnswers, correctIdOf, fieldsOf, type PollDraft } from "./draft.ts";
import { type LoadedPoll, readPoll } from "./queries.ts";

/** Creates a poll, closed: it is opened when the show is ready for it. */
export async function createPoll({ client, siteId }: Pick<Session, "client" | "siteId">, draft: PollDraft): Promise<LoadedPoll> {
  const body = { ...fieldsOf(draft), siteId, open: false, answers: answersOf(draft) };
  const created = await loaded(client.api.POST("/poll/v3", { body, ...once }));
  const correctAnswerId = correctIdOf(draft, created.item.answers);
  if (correctAnswerId === null) return created;
  // Its answers have ids only now.
  return changePoll(client, created, { correctAnswerId });
}

/** Saves what was changed since the poll was loaded; a 412 if somebody else has changed it. */
export async function savePoll(client: TifoClient, draft: PollDraft, before: LoadedPoll): Promise<LoadedPoll> {
  const { item: poll } = before;
  const { settled, correctAnswerId: known } = poll;
  const fields = fieldsOf(draft);
  // A correct answer that is removed must be unset before.
  const kept = answersOf(draft).some(({ _id }) => _id === known);
  const first = { ...fields, ...(settled === null && !kept && { correctAnswerId: null }) };
  let saved = await changePoll(client, before, first);
  if (changesAnswers(draft, poll)) {
    const params = { path: { id: poll._id } };
    await ok(client.api.PUT("/poll/v3/{id}/answers", { params, body: answersOf(draft), headers: ifMatch(saved.etag) }));
    saved = await readPoll(client, poll._id);
  }
  if (settled !== null) return saved;
  const correctAnswerId = correctIdOf(draft, saved.item.answers);
  if (draft.type !== "trivia" || correctAnswerId === saved.item.correctAnswerId) return saved;
  return changePoll(client, saved, { correctAnswerId });
}

/** Changes fields of a poll; a 412 if somebody else has changed it. */
export function changePoll({ api }: TifoClient, { item, etag }: LoadedPoll, body: Schemas["PollPatch"]): Promise<LoadedPoll> {
  return loaded(api.PATCH("/poll/v3/{id}", { params: { path: { id: item._id } }, body, headers: ifMatch(etag) }));
}

/** Says which answer is correct; a 412 if somebody else has changed the poll. */
export function settlePoll({ api }: TifoClient, { item, etag }: LoadedPoll, correctAnswerId: string): Promise<LoadedPoll> {
  const params = { path: { id: item._id } };
  return loaded(api.POST("/poll/v3/{id}/settle", { params, body: { correctAnswerId }, headers: ifMatch(etag) }));
}
