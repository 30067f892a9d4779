import { afterEach, beforeEach, describe, expect, test, vi } from "vitest";
import type { WatchedEvent } from "#sdk/core/event.ts";
import type { TifoEventDelegate } from "#sdk/model/event-delegate.ts";
import type { QuestionState } from "#sdk/model/state.ts";
import { ApiError, CHANNEL, EventWorld } from "./event-world.ts";

const ME = "5eed0000000000000000a003";
const LIST = `GET /qna/v1/${CHANNEL}/questions`;
const ASK = `POST /qna/v1/${CHANNEL}/questions`;
const [FIRST, SECOND] = ["5eed00000000000000007701", "5eed00000000000000007702"];
const SIGNED_IN: TifoEventDelegate = { getUserToken: () => `a.${btoa(JSON.stringify({ sub: ME }))}.c` };

function question(_id: string, fields: Partial<QuestionState> = {}): QuestionState {
  return {
    ...{ _id, channelId: CHANNEL, accountId: "5eed0000000000000000a009", name: "Sam", text: "Who starts?", state: "approved" },
    ...{ upvotes: 3, upvoted: false, answer: null, answeredBy: null, mergedInto: null, askedAt: 1, revision: 1 },
    ...fields,
  };
}

const listOf = (results: QuestionState[], moderates = false, next: string | null = null) => ({ results, moderates, pagination: { next } });

let world: EventWorld;
let event: WatchedEvent;

beforeEach(() => {
  world = new EventWorld();
  vi.stubGlobal("fetch", world.fetch);
  world.rest[LIST] = () => listOf([question(FIRST), question(SECOND, { state: "submitted", accountId: ME })]);
});

afterEach(() => {
  vi.unstubAllGlobals();
});

async function open(delegate: TifoEventDelegate = SIGNED_IN): Promise<void> {
  event = await world.watchLoaded(delegate);
  event.questions.subscribe(() => undefined);
  await world.until(() => event.questions.getSnapshot().status !== "loading");
}

const snapshot = () => event.questions.getSnapshot();
const found = (id: string) => snapshot().questions.find(({ _id }) => _id === id);
const lists = () => world.requests.filter((request) => request === LIST).length;

/** Sends the channel's copy of a question, which is the same for all viewers. */
function send(sent: Partial<QuestionState>): void {
  const { state, _id, ...fields } = question(FIRST, sent);
  const withdrawn = { _id, channelId: CHANNEL, state };
  world.channel.send({
    type: "question.updated",
    question: state === "dismissed" ? withdrawn : { ...withdrawn, ...fields, upvoted: undefined },
  });
}

describe("questions", () => {
  test("are loaded once somebody uses them, and again after a reconnect", async () => {
    event = await world.watchLoaded(SIGNED_IN);
    expect(lists()).toBe(0);
    event.questions.subscribe(() => undefined);
    await world.until(() => snapshot().status === "ready");
    expect(snapshot()).toMatchObject({ moderates: false, hasMore: false, accountId: ME });
    world.channel.cut(() => true);
    await world.until(() => lists() === 2);
  });

  test("say that loading failed, and load on request", async () => {
    const list = world.rest[LIST];
    world.rest[LIST] = () => new ApiError(403, "forbidden");
    await open();
    expect(snapshot().status).toBe("failed");
    if (list) world.rest[LIST] = list;
    await event.questions.reload();
    expect(snapshot().status).toBe("ready");
  });

  test("change with frames, of which older ones are ignored", async () => {
    await open();
    send({ upvotes: 9, revision: 7 });
    await world.until(() => found(FIRST)?.upvotes === 9);
    send({ upvotes: 4, revision: 6 });
    send({ _id: "5eed00000000000000007703", text: "New?", revision: 1 });
    await world.until(() => found("5eed00000000000000007703") !== undefined);
    expect(found(FIRST)?.upvotes).toBe(9);
  });

  test("disappear when they are withdrawn, except for the account that asked", async () => {
    await open();
    send({ state: "dismissed" });
    await world.until(() => found(FIRST) === undefined);
    send({ _id: SECOND, state: "dismissed" });
    await world.until(() => found(SECOND)?.state === "dismissed");
  });

  test("continue with the next page", async () => {
    world.rest[LIST] = (request) => {
      const cursor = new URL(request.url).searchParams.get("cursor");
      return cursor === null ? listOf([question(FIRST)], false, "/qna/v1/x?cursor=abc") : listOf([question(SECOND)]);
    };
    await open();
    expect(snapshot().hasMore).toBe(true);
    await event.questions.loadMore();
    expect(snapshot().questions.map(({ _id }) => _id)).toEqual([FIRST, SECOND]);
    expect(snapshot().hasMore).toBe(false);
  });

  test("are loaded again for moderators when hidden ones have changed, once for many changes", async () => {
    world.rest[LIST] = () => listOf([question(FIRST)], true);
    await open();
    const before = lists();
    for (let change = 0; change < 5; change++) world.channel.send({ type: "questions.changed" });
    await world.advance(5_000);
    expect(lists()).toBe(before + 1);
    world.channel.send({ type: "questions.changed" });
    await world.advance(5_000);
    expect(lists()).toBe(before + 2);
    await world.advance(120_000);
    expect(lists()).toBe(before + 2);
  });

  test("aren't loaded again for viewers when hidden ones have changed", async () => {
    await open();
    const before = lists();
    world.channel.send({ type: "questions.changed" });
    await world.advance(5_000);
    expect(lists()).toBe(before);
  });
});

describe("an upvote", () => {
  const path = `PUT /qna/v1/questions/${FIRST}/upvote`;

  test("shows at once, then as the server counts it", async () => {
    await open();
    world.rest[path] = () => question(FIRST, { upvotes: 8, upvoted: true, revision: 5 });
    const shown: unknown[] = [];
    event.questions.subscribe(() => shown.push([found(FIRST)?.upvotes, found(FIRST)?.upvoted]));
    await event.questions.upvote(FIRST, true);
    expect(shown).toEqual([
      [4, true],
      [8, true],
    ]);
  });

  test("is undone if it fails", async () => {
    await open();
    world.rest[path] = () => new ApiError(409, "conflict");
    await expect(event.questions.upvote(FIRST, true)).rejects.toMatchObject({ code: "conflict" });
    expect(found(FIRST)).toMatchObject({ upvotes: 3, upvoted: false });
  });
});

test("asking shows the question to the account that asked, and requires one", async () => {
  await open();
  world.rest[ASK] = () => question("5eed00000000000000007709", { state: "submitted", accountId: ME });
  await event.questions.ask("Mine?");
  expect(found("5eed00000000000000007709")?.state).toBe("submitted");
  const requested: string[] = [];
  const anonymous = await world.watchLoaded({ onPanelEvent: ({ type }) => void requested.push(type) });
  await expect(anonymous.questions.ask("Mine?")).rejects.toMatchObject({ code: "unauthenticated" });
  expect(requested).toEqual(["loginRequested"]);
});

test("a question whose answer was lost has the same key when it is asked again, and others have their own", async () => {
  await open();
  const keys: (string | null)[] = [];
  const asked = question("5eed00000000000000007709", { state: "submitted", accountId: ME });
  world.rest[ASK] = (request) => {
    keys.push(request.headers.get("Idempotency-Key"));
    return keys.length === 1 ? new ApiError(500, "internal") : asked;
  };
  await expect(event.questions.ask("Mine?")).rejects.toMatchObject({ code: "internal" });
  for (const text of ["Other?", "Mine?", "Mine?"]) await event.questions.ask(text);
  const [lost, other, repeated, later] = keys;
  expect(repeated).toBe(lost);
  expect(new Set([lost, other, later]).size).toBe(3);
});

test("after a change of the viewer, the questions of the previous one are gone", async () => {
  await open();
  let isDone = false;
  world.rest[LIST] = () => listOf([question(SECOND)]);
  void event.userDidChange().then(() => (isDone = true));
  await world.until(() => isDone);
  expect(snapshot().questions.map(({ _id }) => _id)).toEqual([SECOND]);
});
