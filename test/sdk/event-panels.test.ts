import { beforeEach, describe, expect, test, vi } from "vitest";
import type { PanelEvent, TifoEventDelegate } from "#sdk/model/event-delegate.ts";
import { AWAY, EventWorld, HOME, POLL, PREDICTOR, progress, QUEST, QUESTS, ApiError, results } from "./event-world.ts";

const STATES = "GET /poll/v3/states";
const RESPONSES = `/poll/v3/${POLL}/responses`;
const SIGNED_IN: TifoEventDelegate = { getUserToken: () => "a.b.c" };

let world: EventWorld;

beforeEach(() => {
  world = new EventWorld();
  vi.stubGlobal("fetch", world.fetch);
});

describe("panels", () => {
  test("start with the first one open, then open by id or by kind", async () => {
    const received: PanelEvent[] = [];
    const event = await world.watchLoaded({ onPanelEvent: (panelEvent) => void received.push(panelEvent) });
    expect(event.getDefaultPanel()?.id).toBe(PREDICTOR);
    expect(event.getSnapshot().openPanelId).toBe(PREDICTOR);
    expect(event.openPanel({ kind: "quests" })).toBe(true);
    expect(event.getSnapshot().openPanelId).toBe(QUESTS);
    expect(event.openPanel("no such panel")).toBe(false);
    event.closePanel();
    expect(event.getSnapshot().openPanelId).toBeNull();
    await world.until(() => world.channel.received.some((frame) => frame.type === "panel" && frame.panelId === QUESTS));
    expect(received).toEqual([
      { type: "opened", panelId: QUESTS, kind: "quests" },
      { type: "closed", panelId: QUESTS, kind: "quests" },
    ]);
  });

  test("stay closed when the page is loaded again", async () => {
    const event = await world.watchLoaded();
    event.closePanel();
    const before = event.getPanels();
    world.channel.send({ type: "page.updated", seq: 1, upTo: 1, data: {} });
    await world.until(() => event.getPanels() !== before);
    expect(event.getSnapshot().openPanelId).toBeNull();
  });

  test("notify subscribers when key plays change", async () => {
    const event = await world.watchLoaded();
    const before = event.getSnapshot().panels;
    event.updateKeyPlays([{ id: "goal", title: "Goal", time: 61 }]);
    expect(event.keyPlays).toEqual([{ id: "goal", title: "Goal", time: 61 }]);
    expect(event.getSnapshot().panels).not.toBe(before);
    expect(event.getSnapshot().panels).toEqual(before);
  });
});

describe("the open panel", () => {
  const opened = () => world.channel.received.flatMap((frame) => (frame.type === "panel" ? frame.panelId : []));

  test("is reported on every connection, even if it opened by itself", async () => {
    const event = await world.watchLoaded();
    await world.until(() => opened().length === 1);
    world.channel.cut(() => true);
    await world.until(() => opened().length === 2);
    expect(opened()).toEqual([PREDICTOR, PREDICTOR]);
    event.closePanel();
    world.channel.cut(() => true);
    await world.until(() => event.getSnapshot().connection !== "live");
    await world.until(() => event.getSnapshot().connection === "live");
    await world.advance(5_000);
    expect(opened()).toHaveLength(2);
  });

  test("is reported after a reconnect if it was opened in between", async () => {
    const event = await world.watchLoaded();
    await world.until(() => opened().length === 1);
    world.channel.cut(() => true);
    await world.until(() => event.getSnapshot().connection === "resuming");
    event.openPanel(QUESTS);
    await world.until(() => opened().includes(QUESTS));
    expect(opened()).toEqual([PREDICTOR, QUESTS]);
  });
});

describe("polls", () => {
  test.each([true, false])("are reloaded after a reconnect, resumed or not (%s)", async (resumed) => {
    const event = await world.watchLoaded();
    world.rest[`GET /poll/v3/${POLL}/results`] = () => results(8, 2);
    if (!resumed) world.channel.epoch = "another";
    world.channel.cut(() => true);
    await world.until(() => event.getSnapshot().polls[POLL]?.total === 10, "the current tally");
  });

  test("are reloaded after a server error, and removed if they no longer exist", async () => {
    vi.spyOn(console, "warn").mockReturnValue();
    const poll = world.rest[`GET /poll/v3/${POLL}`] ?? (() => undefined);
    world.rest[`GET /poll/v3/${POLL}`] = () => new ApiError(500, "internal");
    const event = world.watch();
    await world.until(() => event.getPanels().length > 0);
    await world.advance(1_000);
    world.rest[`GET /poll/v3/${POLL}`] = poll;
    await world.until(() => event.getSnapshot().polls[POLL] !== undefined, "the poll");
    world.rest[`GET /poll/v3/${POLL}`] = () => new ApiError(404, "not_found");
    world.channel.send({ type: "page.updated", seq: 1, upTo: 1, data: {} });
    await world.until(() => event.getSnapshot().polls[POLL] === undefined, "no poll");
  });

  test("show the stored results, then those of each poll.updated", async () => {
    const event = await world.watchLoaded();
    const tally = () => event.getSnapshot().polls[POLL]?.answers.map(({ responses }) => responses);
    expect(tally()).toEqual([1, 1]);
    world.channel.send({ type: "poll.updated", data: results(3, 1, { open: false, correctAnswerId: HOME }) });
    await world.until(() => event.getSnapshot().polls[POLL]?.total === 4);
    expect(event.getSnapshot().polls[POLL]).toMatchObject({
      open: false,
      correctAnswerId: HOME,
      answers: [{ share: 0.75 }, { share: 0.25 }],
    });
  });

  test("keep results that arrive while an older response is pending", async () => {
    let respond = () => {};
    const late = new Promise<void>((resolve) => (respond = resolve));
    world.rest[`GET /poll/v3/${POLL}/results`] = () => late.then(() => results(1, 1));
    const event = world.watch();
    await world.until(() => event.getSnapshot().connection === "live" && world.requests.includes(STATES));
    const received = event.getSnapshot();
    world.channel.send({ type: "poll.updated", data: results(9, 1, { open: false }) });
    world.channel.send({ type: "concurrents", count: 2 });
    await world.until(() => event.getSnapshot() !== received && event.getSnapshot().concurrents === 2);
    respond();
    await world.until(() => event.getSnapshot().polls[POLL] !== undefined);
    expect(event.getSnapshot().polls[POLL]).toMatchObject({ total: 10, open: false });
  });

  test("show what the viewer has answered before, and what they have answered here since", async () => {
    world.rest[`GET ${RESPONSES}`] = () => [{ answerId: HOME }, { answerId: AWAY }];
    const event = await world.watchLoaded(SIGNED_IN);
    expect(event.getSnapshot().polls[POLL]?.myAnswerId).toBe(AWAY);
    const vote = event.answerPoll(POLL, HOME);
    await world.until(() => event.getSnapshot().polls[POLL]?.myAnswerId === HOME);
    await vote;
    const loads = () => world.requests.filter((request) => request === STATES).length;
    const before = loads();
    world.rest[`GET /poll/v3/${POLL}/results`] = () => results(8, 2);
    world.channel.send({ type: "page.updated", seq: 1, upTo: 1, data: {} });
    await world.until(() => loads() > before && event.getSnapshot().polls[POLL]?.total === 10);
    expect(event.getSnapshot().polls[POLL]?.myAnswerId).toBe(HOME);
  });

  test("are shown without those that couldn't be counted, which are asked for again", async () => {
    vi.spyOn(console, "warn").mockReturnValue();
    const event = await world.watchLoaded();
    world.rest[`GET /poll/v3/${POLL}/results`] = () => null;
    const loads = () => world.requests.filter((request) => request === STATES).length;
    const before = loads();
    world.channel.send({ type: "page.updated", seq: 1, upTo: 1, data: {} });
    await world.until(() => loads() > before);
    await world.advance(100);
    expect(event.getSnapshot().polls[POLL]).toMatchObject({ total: 2 });
    world.rest[`GET /poll/v3/${POLL}/results`] = () => results(5, 0);
    await world.until(() => event.getSnapshot().polls[POLL]?.total === 5, "the next attempt");
  });

  test("are loaded without an answer of viewers who aren't signed in", async () => {
    const event = await world.watchLoaded();
    expect(event.getSnapshot().polls[POLL]).toMatchObject({ open: true, myAnswerId: undefined });
  });

  test("send a vote over the socket", async () => {
    const received: PanelEvent[] = [];
    const event = await world.watchLoaded({ ...SIGNED_IN, onPanelEvent: (panelEvent) => void received.push(panelEvent) });
    const vote = event.answerPoll(POLL, HOME);
    await world.until(() => event.getSnapshot().polls[POLL]?.myAnswerId === HOME);
    await vote;
    expect(world.channel.received).toContainEqual(expect.objectContaining({ type: "vote", pollId: POLL, answerId: HOME }));
    expect(world.requests).not.toContain(`POST ${RESPONSES}`);
    expect(received).toEqual([{ type: "answered", panelId: PREDICTOR, pollId: POLL, answerId: HOME }]);
  });

  test("send what an answer costs, as the viewer was shown", async () => {
    const path = `GET /poll/v3/${POLL}`;
    const free = world.rest[path];
    world.rest[path] = (request) => Object.assign({}, free?.(request), { responseCost: 50 });
    const event = await world.watchLoaded(SIGNED_IN);
    expect(event.getSnapshot().polls[POLL]?.responseCost).toBe(50);
    const vote = event.answerPoll(POLL, HOME);
    await world.until(() => event.getSnapshot().polls[POLL]?.myAnswerId === HOME);
    await vote;
    expect(world.channel.received).toContainEqual(expect.objectContaining({ type: "vote", pollId: POLL, cost: 50 }));
  });

  test("show the new cost if an answer is rejected because the poll costs something else by now", async () => {
    const path = `GET /poll/v3/${POLL}`;
    const free = world.rest[path];
    const event = await world.watchLoaded(SIGNED_IN);
    world.rest[path] = (request) => Object.assign({}, free?.(request), { responseCost: 60 });
    world.channel.voteResult = ({ id }) => ({ id, ok: false, code: "conflict", message: "A response to this poll costs 60" });
    const rejected = expect(event.answerPoll(POLL, HOME)).rejects.toMatchObject({ code: "conflict" });
    await world.until(() => event.getSnapshot().polls[POLL]?.responseCost === 60);
    await rejected;
  });

  test("resend a vote without a response after a reconnect, with the same id", async () => {
    const event = await world.watchLoaded(SIGNED_IN);
    world.channel.voteResult = () => null;
    const vote = event.answerPoll(POLL, HOME);
    const votes = () => world.channel.received.filter((frame) => frame.type === "vote");
    await world.until(() => votes().length === 1);
    world.channel.voteResult = ({ id }) => ({ id, ok: true });
    world.channel.cut(() => true);
    await world.until(() => event.getSnapshot().polls[POLL]?.myAnswerId === HOME);
    await vote;
    expect(votes()).toHaveLength(2);
    expect(votes()[1]).toEqual(votes()[0]);
  });

  test("report why a vote is rejected", async () => {
    const event = await world.watchLoaded(SIGNED_IN);
    world.channel.voteResult = ({ id }) => ({ id, ok: false, code: "already_answered", message: "You have answered" });
    const rejected = expect(event.answerPoll(POLL, HOME)).rejects.toMatchObject({ code: "already_answered", message: "You have answered" });
    await world.advance(1_000);
    await rejected;
    expect(event.getSnapshot().polls[POLL]?.myAnswerId).toBeUndefined();
  });

  test("show the answer that the viewer has given elsewhere, once another one is rejected", async () => {
    const event = await world.watchLoaded(SIGNED_IN);
    world.rest[`GET ${RESPONSES}`] = () => [{ answerId: AWAY }];
    world.channel.voteResult = ({ id }) => ({ id, ok: false, code: "already_answered", message: "You have answered" });
    const rejected = expect(event.answerPoll(POLL, HOME)).rejects.toMatchObject({ code: "already_answered" });
    await world.until(() => event.getSnapshot().polls[POLL]?.myAnswerId === AWAY);
    await rejected;
  });

  test.for([undefined, AWAY])("are answered if the vote was counted, and only its result was lost (before: %s)", async (before) => {
    const received: PanelEvent[] = [];
    if (before !== undefined) world.rest[`GET ${RESPONSES}`] = () => [{ answerId: before }];
    const event = await world.watchLoaded({ ...SIGNED_IN, onPanelEvent: (panelEvent) => void received.push(panelEvent) });
    await world.until(() => event.getSnapshot().polls[POLL]?.myAnswerId === before);
    world.channel.voteResult = () => null;
    world.rest[`GET ${RESPONSES}`] = () => [{ answerId: HOME }];
    const vote = event.answerPoll(POLL, HOME);
    await world.advance(12_000);
    await vote;
    expect(event.getSnapshot().polls[POLL]?.myAnswerId).toBe(HOME);
    expect(received).toEqual([{ type: "answered", panelId: PREDICTOR, pollId: POLL, answerId: HOME }]);
  });

  test("report if there is no response to a vote", async () => {
    const event = await world.watchLoaded(SIGNED_IN);
    world.channel.voteResult = () => null;
    const rejected = expect(event.answerPoll(POLL, HOME)).rejects.toMatchObject({ code: "network" });
    await world.advance(12_000);
    await rejected;
  });

  test("aren't answered by an equal answer that the viewer had given before, or that another viewer has given", async () => {
    world.rest[`GET ${RESPONSES}`] = () => [{ answerId: HOME }];
    const event = await world.watchLoaded(SIGNED_IN);
    await world.until(() => event.getSnapshot().polls[POLL]?.myAnswerId === HOME);
    world.channel.voteResult = () => null;
    const again = expect(event.answerPoll(POLL, HOME)).rejects.toMatchObject({ code: "network" });
    await world.advance(14_000);
    await again;
    const others = expect(event.answerPoll(POLL, AWAY)).rejects.toMatchObject({ code: "network" });
    await world.advance(100);
    world.rest[`GET ${RESPONSES}`] = () => [{ answerId: AWAY }];
    await Promise.all([event.userDidChange(), world.advance(4_000)]);
    await others;
  });

  test("send a vote by REST if only Server-Sent Events are available", async () => {
    world.network.allowsSockets = false;
    const event = await world.watchLoaded(SIGNED_IN);
    await event.answerPoll(POLL, HOME);
    expect(world.requests).toContain(`POST /poll/v3/${POLL}/responses`);
    expect(event.getSnapshot().polls[POLL]?.myAnswerId).toBe(HOME);
  });

  test("ask anonymous viewers to sign in, and send nothing", async () => {
    const received: PanelEvent[] = [];
    const event = await world.watchLoaded({ onPanelEvent: (panelEvent) => void received.push(panelEvent) });
    await expect(event.answerPoll(POLL, AWAY)).rejects.toMatchObject({ code: "unauthenticated" });
    expect(received).toEqual([{ type: "loginRequested", panelId: PREDICTOR }]);
    expect(world.channel.received.some((frame) => frame.type === "vote")).toBe(false);
  });
});

describe("quests", () => {
  test("are loaded only for signed-in viewers", async () => {
    const event = await world.watchLoaded();
    expect(event.getSnapshot()).toMatchObject({ authenticated: false, quests: {} });
  });

  test("show this viewer's progress, and update it", async () => {
    const event = await world.watchLoaded(SIGNED_IN);
    expect(event.getSnapshot().quests[QUEST]).toMatchObject({
      title: "First half hero",
      complete: false,
      actions: [{ body: "Watch ten minutes", current: 4, required: 10 }],
    });
    world.rest[`GET /quest/v2/${QUEST}/progress`] = () => progress(10);
    world.channel.send({ type: "quest.updated", seq: 1, upTo: 1, data: {} });
    await world.until(() => event.getSnapshot().quests[QUEST]?.complete === true);
  });

  test("show the others if one doesn't exist, without unhandled rejections", async () => {
    vi.spyOn(console, "warn").mockReturnValue();
    const unhandled = vi.fn();
    process.on("unhandledRejection", unhandled);
    world.quests.push("5eed00000000000000006102");
    const event = await world.watchLoaded(SIGNED_IN);
    expect(Object.keys(event.getSnapshot().quests)).toEqual([QUEST]);
    world.rest[`GET /quest/v2/${QUEST}/progress`] = () => new ApiError(404, "not_found");
    world.channel.send({ type: "quest.updated", seq: 1, upTo: 1, data: {} });
    await world.until(() => event.getSnapshot().quests[QUEST] === undefined, "no quest");
    process.off("unhandledRejection", unhandled);
    expect(unhandled).not.toHaveBeenCalled();
  });

  test("report actions that the server can't see", async () => {
    const event = await world.watchLoaded(SIGNED_IN);
    world.rest[`GET /quest/v2/${QUEST}/progress`] = () => progress(5);
    await event.reportQuestAction(QUEST, "watchTen1");
    expect(world.requests).toContain(`POST /quest/v2/${QUEST}/actions/watchTen1`);
    expect(event.getSnapshot().quests[QUEST]?.actions[0]?.current).toBe(5);
  });

  test("are claimed once, and still show the claim on the next visit", async () => {
    world.rest[`GET /quest/v2/${QUEST}/progress`] = () => progress(10);
    const first = await world.watchLoaded(SIGNED_IN);
    expect(first.getSnapshot().quests[QUEST]?.claim).toBeUndefined();
    expect(await first.claimQuest(QUEST)).toBe("PENDING");
    expect(first.getSnapshot().quests[QUEST]?.claim).toBe("PENDING");
    world.rest[`GET /claimstatus/v3/${QUEST}`] = () => ({ status: "SUCCESS" });
    const later = await world.watchLoaded(SIGNED_IN);
    expect(later.getSnapshot().quests[QUEST]?.claim).toBe("SUCCESS");
  });

  test("stay shown while they are loaded again, with a claim that was made meanwhile", async () => {
    world.rest[`GET /quest/v2/${QUEST}/progress`] = () => progress(10);
    const event = await world.watchLoaded(SIGNED_IN);
    const missing = vi.fn();
    event.subscribe(() => {
      if (!event.getSnapshot().quests[QUEST]) missing();
    });
    let respond = () => {};
    const late = new Promise<void>((resolve) => (respond = resolve));
    world.rest[`GET /claimstatus/v3/${QUEST}`] = () => late.then(() => null);
    const loads = () => world.requests.filter((request) => request === "GET /quest/v2/states").length;
    const before = loads();
    world.channel.send({ type: "quest.updated", seq: 1, upTo: 1, data: {} });
    await world.until(() => loads() > before);
    await event.claimQuest(QUEST);
    const claimed = event.getSnapshot();
    respond();
    await world.until(() => event.getSnapshot() !== claimed);
    expect(event.getSnapshot().quests[QUEST]?.claim).toBe("PENDING");
    expect(missing).not.toHaveBeenCalled();
  });

  test("reject a claim that the server rejects", async () => {
    const event = await world.watchLoaded(SIGNED_IN);
    world.rest[`POST /quest/v2/${QUEST}/claim`] = () => new ApiError(409, "conflict");
    await expect(event.claimQuest(QUEST)).rejects.toMatchObject({ status: 409, code: "conflict" });
    expect(event.getSnapshot().quests[QUEST]?.claim).toBeUndefined();
  });
});
