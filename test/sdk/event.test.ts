import { afterEach, beforeEach, describe, expect, test, vi } from "vitest";
import type { PanelEvent, TifoEventDelegate, TrackedAction, TrackedImpression } from "#sdk/model/event-delegate.ts";
import { AWAY, CHANNEL, EventWorld, HOME, POLL, PREDICTOR, progress, QUEST, QUESTS, Refusal, results } from "./event-world.ts";

const SIGNED_IN: TifoEventDelegate = { getUserToken: () => "a.b.c" };

let world: EventWorld;

beforeEach(() => {
  world = new EventWorld();
  vi.stubGlobal("fetch", world.fetch);
});

afterEach(() => {
  vi.unstubAllGlobals();
  vi.restoreAllMocks();
});

describe("the state of an event", () => {
  test("goes from connecting to live, with what the page shows", async () => {
    const event = world.watch();
    expect(event.getSnapshot()).toMatchObject({ channelId: CHANNEL, connection: "connecting", panels: [], title: "", theme: null });
    await world.until(() => event.getSnapshot().polls[POLL] !== undefined);
    expect(event.getSnapshot()).toMatchObject({ connection: "live", concurrents: 1, title: "Main stage", theme: { name: "Floodlight" } });
  });

  test("is one object until something changes, and what did not change keeps its identity", async () => {
    const event = await world.watchLoaded();
    const before = event.getSnapshot();
    const heard = vi.fn();
    const end = event.subscribe(heard);
    expect(event.getSnapshot()).toBe(before);
    world.channel.tell({ type: "concurrents", count: 512 });
    await world.until(() => heard.mock.calls.length > 0);
    expect(event.getSnapshot()).toMatchObject({ concurrents: 512 });
    expect(event.getSnapshot().panels).toBe(before.panels);
    end();
    world.channel.tell({ type: "concurrents", count: 1 });
    await world.until(() => event.getSnapshot().concurrents === 1);
    expect(heard).toHaveBeenCalledTimes(1);
  });

  test("says why the connection is offline when it is refused", async () => {
    world.channel.refusal = 4403;
    const event = world.watch();
    await world.until(() => event.getSnapshot().connection === "offline");
    expect(event.getSnapshot().reason).toBe("The gate is closed");
  });

  test("tells when a stream goes on and off", async () => {
    const event = await world.watchLoaded();
    world.channel.tell({ type: "stream.live", seq: 1, upTo: 1, data: {} });
    await world.until(() => event.getSnapshot().live);
    world.channel.tell({ type: "stream.offline", seq: 2, upTo: 2, data: {} });
    await world.until(() => !event.getSnapshot().live);
  });

  test("keeps receiving where the page can't be loaded", async () => {
    const warn = vi.spyOn(console, "warn").mockReturnValue();
    world.rest[`GET /page/v2/configuration/${CHANNEL}`] = () => new Refusal(404, "not_found");
    const event = world.watch();
    await world.until(() => event.getSnapshot().connection === "live" && warn.mock.calls.length > 0);
    world.channel.tell({ type: "concurrents", count: 7 });
    await world.until(() => event.getSnapshot().concurrents === 7);
  });

  test("loads the page again when it changed, and after a gap that can't be filled", async () => {
    await world.watchLoaded();
    const loads = () => world.requests.filter((request) => request.includes("/configuration/")).length;
    world.channel.tell({ type: "page.updated", seq: 1, upTo: 1, data: {} });
    await world.until(() => loads() === 2);
    world.channel.epoch = "another";
    world.channel.cut(() => true);
    await world.until(() => loads() === 3);
  });

  test("loads the page again where the first connection comes long after it, and not where it comes at once", async () => {
    const loads = () => world.requests.filter((request) => request.includes("/configuration/")).length;
    world.channel.down = true;
    const event = world.watch();
    await world.until(() => event.getSnapshot().polls[POLL] !== undefined);
    await world.pass(30_000);
    expect(loads()).toBe(1);
    world.channel.down = false;
    await world.until(() => loads() === 2, "the page of now");
    const another = await world.watchLoaded();
    await world.pass(10_000);
    expect(another.getSnapshot().connection).toBe("live");
    expect(loads()).toBe(3);
  });

  test("loads the page with the next connection where it could not be had at first", async () => {
    vi.spyOn(console, "warn").mockReturnValue();
    const configuration = `GET /page/v2/configuration/${CHANNEL}`;
    const page = world.rest[configuration];
    world.rest[configuration] = () => new Refusal(404, "not_found");
    const event = world.watch();
    await world.until(() => event.getSnapshot().connection === "live" && world.requests.includes(configuration));
    await world.pass(1_000);
    world.rest[configuration] = page ?? (() => undefined);
    world.channel.cut(() => true);
    await world.until(() => event.getPanels().length > 0 && event.getSnapshot().polls[POLL] !== undefined, "panels");
  });

  test("asks for the page again by itself where the server could not answer", async () => {
    vi.spyOn(console, "warn").mockReturnValue();
    const configuration = `GET /page/v2/configuration/${CHANNEL}`;
    const page = world.rest[configuration];
    world.rest[configuration] = () => new Refusal(500, "internal");
    const event = world.watch();
    await world.until(() => world.requests.includes(configuration));
    await world.pass(1_000);
    world.rest[configuration] = page ?? (() => undefined);
    await world.until(() => event.getPanels().length > 0, "panels");
    expect(world.requests.filter((request) => request === configuration)).toHaveLength(2);
  });

  test("asks less and less often for what the server can't give", async () => {
    vi.spyOn(console, "warn").mockReturnValue();
    world.rest[`GET /poll/v3/${POLL}`] = () => new Refusal(500, "internal");
    world.watch();
    for (let seconds = 0; seconds < 600; seconds++) await world.pass(1_000);
    const asked = world.requests.filter((request) => request === `GET /poll/v3/${POLL}`).length;
    expect(asked).toBeGreaterThan(3);
    expect(asked).toBeLessThan(8);
  });

  test("loads the page once for any number of changes, and again for one that comes meanwhile", async () => {
    const event = await world.watchLoaded();
    const loads = () => world.requests.filter((request) => request.includes("/configuration/")).length;
    for (let seq = 1; seq <= 20; seq++) world.channel.tell({ type: "page.updated", seq, upTo: seq, data: {} });
    const before = event.getPanels();
    await world.until(() => event.getPanels() !== before);
    expect(loads()).toBe(2);
    world.channel.tell({ type: "page.updated", seq: 21, upTo: 21, data: {} });
    await world.until(() => loads() === 3);
  });

  test("asks at moments of its own for what every viewer hears at once", async () => {
    const worlds = [new EventWorld(1), new EventWorld(2), new EventWorld(3)];
    const moments = [];
    for (const one of worlds) {
      vi.stubGlobal("fetch", one.fetch);
      const event = await one.watchLoaded();
      const before = event.getPanels();
      const told = one.time.now;
      one.channel.tell({ type: "page.updated", seq: 1, upTo: 1, data: {} });
      await one.until(() => event.getPanels() !== before);
      moments.push(one.time.now - told);
      event.stop();
    }
    expect(new Set(moments).size).toBe(worlds.length);
  });

  test("ends: it is offline, shows nothing, has left the channel, and never changes again", async () => {
    const event = await world.watchLoaded();
    event.stop();
    const last = event.getSnapshot();
    expect(last).toMatchObject({ connection: "offline", overlays: [] });
    await world.until(() => world.channel.viewers.size === 0);
    await world.pass(60_000);
    expect(event.getSnapshot()).toBe(last);
  });
});

describe("client rules", () => {
  const rule = (_id: string, active: boolean, name = _id) => ({ type: "rule", data: { _id, active, name } });

  test("are those of the welcome, and follow each change", async () => {
    const event = await world.watchLoaded();
    const names = () => event.getSnapshot().rules.map(({ name }) => name);
    const state = { epoch: "e1", seq: 0, upTo: 0, now: world.time.now, overlays: [], concurrents: 1, heartbeat: 30 };
    const rules = [rule("a", true), rule("b", true)];
    world.channel.tell({ type: "welcome", recovered: false, ...state, rules });
    await world.until(() => names().length === 2);
    world.channel.tell({ ...rule("a", true, "a once more"), seq: 1, upTo: 1 });
    world.channel.tell({ ...rule("b", false), seq: 2, upTo: 2 });
    await world.until(() => names().length === 1);
    expect(names()).toEqual(["a once more"]);
    world.channel.tell({ type: "welcome", recovered: true, ...state, upTo: 2, rules: [], concurrents: 9 });
    await world.until(() => event.getSnapshot().concurrents === 9);
    expect(names()).toEqual(["a once more"]);
  });
});

describe("overlays", () => {
  function overlay(id: string, changes: object = {}) {
    const html = { kind: "html", html: id, position: "center" };
    const times = { startsAt: world.time.now, endsAt: world.time.now + 5_000 };
    const rest = { overlayId: "goal", position: "center", contents: [html], cta: null, variables: {}, priority: 0 };
    return { type: "overlay.show", broadcastId: id, ...times, ...rest, ...changes };
  }

  test.each([
    ["ahead", 300_000],
    ["behind", -300_000],
  ])("are shown for their time on a device whose clock is minutes %s", async (_, wrong) => {
    const event = await world.watchLoaded(undefined, wrong);
    const state = { epoch: world.channel.epoch, seq: 0, upTo: 0, recovered: true, rules: [], overlays: [], concurrents: 1, heartbeat: 30 };
    world.channel.tell({ type: "welcome", now: world.time.now, ...state });
    world.channel.tell({ ...overlay("a", { startsAt: world.time.now - 2_000, endsAt: world.time.now + 5_000 }), seq: 1, upTo: 1 });
    await world.until(() => event.getSnapshot().overlays.length === 1);
    const since = world.time.now;
    await world.until(() => event.getSnapshot().overlays.length === 0);
    expect(Math.abs(world.time.now - since - 5_000)).toBeLessThan(500);
  });

  test("are each in the state, twenty a second, and in the end none is remembered", async () => {
    const event = await world.watchLoaded();
    const seen = new Set<string>();
    event.subscribe(() => event.getSnapshot().overlays.forEach(({ broadcastId }) => seen.add(broadcastId)));
    for (let seq = 1; seq <= 100; seq++) {
      world.channel.tell({ ...overlay(`${seq}`, { endsAt: world.time.now + 1_000 }), seq, upTo: seq });
      await world.pass(50);
    }
    await world.until(() => event.getSnapshot().overlays.length === 0);
    expect(seen.size).toBe(100);
  });

  test.each([
    [false, 1_000],
    [true, 0],
  ])("wait for what a frame draws only while it can, with the page hidden or not (%s)", async (hidden, least) => {
    const event = await world.watchLoaded();
    event.draws();
    world.hidden = hidden;
    const since = world.time.now;
    for (const [index, id] of ["a", "b"].entries()) world.channel.tell({ ...overlay(id), seq: index + 1, upTo: index + 1 });
    await world.until(() => event.getSnapshot().overlays[0]?.broadcastId === "b");
    expect(world.time.now - since).toBeGreaterThanOrEqual(least);
    expect(world.time.now - since).toBeLessThan(least + 500);
  });

  test("stay away once the event is not watched any more, whatever a frame still answers", async () => {
    const event = await world.watchLoaded();
    world.channel.tell({ ...overlay("a"), seq: 1, upTo: 1 });
    await world.until(() => event.getSnapshot().overlays.length === 1);
    event.stop();
    event.drew("a");
    expect(event.getSnapshot().overlays).toEqual([]);
  });

  test("that were dropped unseen, as too many came at once, are told to the host app", async () => {
    const actions: TrackedAction[] = [];
    await world.watchLoaded({ trackAction: (action) => void actions.push(action) });
    for (let seq = 1; seq <= 250; seq++) world.channel.tell({ ...overlay(`${seq}`), seq, upTo: seq });
    await world.until(() => actions.length > 0);
    expect(actions[0]).toEqual({ name: "overlay.dropped", properties: { overlayId: "goal", broadcastId: "2" } });
  });
});

describe("panels", () => {
  test("open the first by themselves, then what is asked for by id or by kind", async () => {
    const heard: PanelEvent[] = [];
    const event = await world.watchLoaded({ onPanelEvent: (panelEvent) => void heard.push(panelEvent) });
    expect(event.getDefaultPanel()?.id).toBe(PREDICTOR);
    expect(event.getSnapshot().openPanelId).toBe(PREDICTOR);
    expect(event.openPanel({ kind: "quests" })).toBe(true);
    expect(event.getSnapshot().openPanelId).toBe(QUESTS);
    expect(event.openPanel("no such panel")).toBe(false);
    event.closePanel();
    expect(event.getSnapshot().openPanelId).toBeNull();
    await world.until(() => world.channel.heard.some((frame) => frame.type === "panel" && frame.panelId === QUESTS));
    expect(heard).toEqual([
      { type: "opened", panelId: QUESTS, kind: "quests" },
      { type: "closed", panelId: QUESTS, kind: "quests" },
    ]);
  });

  test("stay closed when the page is loaded again", async () => {
    const event = await world.watchLoaded();
    event.closePanel();
    const before = event.getPanels();
    world.channel.tell({ type: "page.updated", seq: 1, upTo: 1, data: {} });
    await world.until(() => event.getPanels() !== before);
    expect(event.getSnapshot().openPanelId).toBeNull();
  });

  test("are told anew when key plays are handed over", async () => {
    const event = await world.watchLoaded();
    const before = event.getSnapshot().panels;
    event.updateKeyPlays([{ id: "goal", title: "Goal", time: 61 }]);
    expect(event.keyPlays).toEqual([{ id: "goal", title: "Goal", time: 61 }]);
    expect(event.getSnapshot().panels).not.toBe(before);
    expect(event.getSnapshot().panels).toEqual(before);
  });
});

describe("the panel that is open", () => {
  const opened = () => world.channel.heard.flatMap((frame) => (frame.type === "panel" ? frame.panelId : []));

  test("is told to the server also where it opened by itself, and on every connection", async () => {
    const event = await world.watchLoaded();
    await world.until(() => opened().length === 1);
    world.channel.cut(() => true);
    await world.until(() => opened().length === 2);
    expect(opened()).toEqual([PREDICTOR, PREDICTOR]);
    event.closePanel();
    world.channel.cut(() => true);
    await world.until(() => event.getSnapshot().connection !== "live");
    await world.until(() => event.getSnapshot().connection === "live");
    await world.pass(5_000);
    expect(opened()).toHaveLength(2);
  });

  test("is told once the connection is back where it was opened meanwhile", async () => {
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
  test.each([true, false])("are asked for anew when the connection is back, resumed or not (%s)", async (resumed) => {
    const event = await world.watchLoaded();
    world.rest[`GET /poll/v3/${POLL}/results`] = () => results(8, 2);
    if (!resumed) world.channel.epoch = "another";
    world.channel.cut(() => true);
    await world.until(() => event.getSnapshot().polls[POLL]?.total === 10, "the tally of now");
  });

  test("are asked for again where the server could not answer, and go where they are no more", async () => {
    vi.spyOn(console, "warn").mockReturnValue();
    const poll = world.rest[`GET /poll/v3/${POLL}`] ?? (() => undefined);
    world.rest[`GET /poll/v3/${POLL}`] = () => new Refusal(500, "internal");
    const event = world.watch();
    await world.until(() => event.getPanels().length > 0);
    await world.pass(1_000);
    world.rest[`GET /poll/v3/${POLL}`] = poll;
    await world.until(() => event.getSnapshot().polls[POLL] !== undefined, "the poll");
    world.rest[`GET /poll/v3/${POLL}`] = () => new Refusal(404, "not_found");
    world.channel.tell({ type: "page.updated", seq: 1, upTo: 1, data: {} });
    await world.until(() => event.getSnapshot().polls[POLL] === undefined, "no poll");
  });

  test("show what was counted, and what poll.updated says from then on", async () => {
    const event = await world.watchLoaded();
    const tally = () => event.getSnapshot().polls[POLL]?.answers.map(({ responses }) => responses);
    expect(tally()).toEqual([1, 1]);
    world.channel.tell({ type: "poll.updated", data: results(3, 1, { open: false, correctAnswerId: HOME }) });
    await world.until(() => event.getSnapshot().polls[POLL]?.total === 4);
    expect(event.getSnapshot().polls[POLL]).toMatchObject({
      open: false,
      correctAnswerId: HOME,
      answers: [{ share: 0.75 }, { share: 0.25 }],
    });
  });

  test("keep results that came while an older answer was on its way", async () => {
    let answer = () => {};
    const late = new Promise<void>((resolve) => (answer = resolve));
    world.rest[`GET /poll/v3/${POLL}/results`] = () => late.then(() => results(1, 1));
    const event = world.watch();
    await world.until(() => event.getSnapshot().connection === "live" && world.requests.some((request) => request.endsWith("/results")));
    const heard = event.getSnapshot();
    world.channel.tell({ type: "poll.updated", data: results(9, 1, { open: false }) });
    world.channel.tell({ type: "concurrents", count: 2 });
    await world.until(() => event.getSnapshot() !== heard && event.getSnapshot().concurrents === 2);
    answer();
    await world.until(() => event.getSnapshot().polls[POLL] !== undefined);
    expect(event.getSnapshot().polls[POLL]).toMatchObject({ total: 10, open: false });
  });

  test("take a vote over the socket", async () => {
    const heard: PanelEvent[] = [];
    const event = await world.watchLoaded({ ...SIGNED_IN, onPanelEvent: (panelEvent) => void heard.push(panelEvent) });
    const vote = event.answerPoll(POLL, HOME);
    await world.until(() => event.getSnapshot().polls[POLL]?.myAnswerId === HOME);
    await vote;
    expect(world.channel.heard).toContainEqual(expect.objectContaining({ type: "vote", pollId: POLL, answerId: HOME }));
    expect(world.requests.some((request) => request.endsWith("/responses"))).toBe(false);
    expect(heard).toEqual([{ type: "answered", panelId: PREDICTOR, pollId: POLL, answerId: HOME }]);
  });

  test("send a vote without an answer again, under its own name, when the connection is back", async () => {
    const event = await world.watchLoaded(SIGNED_IN);
    world.channel.judge = () => null;
    const vote = event.answerPoll(POLL, HOME);
    const votes = () => world.channel.heard.filter((frame) => frame.type === "vote");
    await world.until(() => votes().length === 1);
    world.channel.judge = ({ id }) => ({ id, ok: true });
    world.channel.cut(() => true);
    await world.until(() => event.getSnapshot().polls[POLL]?.myAnswerId === HOME);
    await vote;
    expect(votes()).toHaveLength(2);
    expect(votes()[1]).toEqual(votes()[0]);
  });

  test("say why a vote doesn't count", async () => {
    const event = await world.watchLoaded(SIGNED_IN);
    world.channel.judge = ({ id }) => ({ id, ok: false, code: "already_answered", message: "You have answered" });
    const refused = expect(event.answerPoll(POLL, HOME)).rejects.toMatchObject({ code: "already_answered", message: "You have answered" });
    await world.pass(1_000);
    await refused;
    expect(event.getSnapshot().polls[POLL]?.myAnswerId).toBeUndefined();
  });

  test("say so when no answer to a vote comes", async () => {
    const event = await world.watchLoaded(SIGNED_IN);
    world.channel.judge = () => null;
    const refused = expect(event.answerPoll(POLL, HOME)).rejects.toMatchObject({ code: "network" });
    await world.pass(12_000);
    await refused;
  });

  test("take a vote by request where only events come through", async () => {
    world.network.allowsSockets = false;
    const event = await world.watchLoaded(SIGNED_IN);
    await event.answerPoll(POLL, HOME);
    expect(world.requests).toContain(`POST /poll/v3/${POLL}/responses`);
    expect(event.getSnapshot().polls[POLL]?.myAnswerId).toBe(HOME);
  });

  test("ask anonymous viewers to sign in, and send nothing", async () => {
    const heard: PanelEvent[] = [];
    const event = await world.watchLoaded({ onPanelEvent: (panelEvent) => void heard.push(panelEvent) });
    await expect(event.answerPoll(POLL, AWAY)).rejects.toMatchObject({ code: "unauthenticated" });
    expect(heard).toEqual([{ type: "loginRequested", panelId: PREDICTOR }]);
    expect(world.channel.heard.some((frame) => frame.type === "vote")).toBe(false);
  });
});

describe("quests", () => {
  test("are for viewers who are signed in", async () => {
    const event = await world.watchLoaded();
    expect(event.getSnapshot()).toMatchObject({ authenticated: false, quests: {} });
  });

  test("show this viewer's progress, and follow it", async () => {
    const event = await world.watchLoaded(SIGNED_IN);
    expect(event.getSnapshot().quests[QUEST]).toMatchObject({
      title: "First half hero",
      complete: false,
      actions: [{ body: "Watch ten minutes", current: 4, required: 10 }],
    });
    world.rest[`GET /quest/v2/${QUEST}/progress`] = () => progress(10);
    world.channel.tell({ type: "quest.updated", seq: 1, upTo: 1, data: {} });
    await world.until(() => event.getSnapshot().quests[QUEST]?.complete === true);
  });

  test("show the others where one is refused, and reject nothing that nobody awaits", async () => {
    vi.spyOn(console, "warn").mockReturnValue();
    const unhandled = vi.fn();
    process.on("unhandledRejection", unhandled);
    const other = "5eed00000000000000006102";
    world.quests.push(other);
    world.rest[`GET /quest/v2/${other}`] = () => new Refusal(403, "forbidden");
    world.rest[`GET /quest/v2/${other}/progress`] = () => new Refusal(403, "forbidden");
    const event = await world.watchLoaded(SIGNED_IN);
    expect(Object.keys(event.getSnapshot().quests)).toEqual([QUEST]);
    world.rest[`GET /quest/v2/${QUEST}/progress`] = () => new Refusal(404, "not_found");
    world.channel.tell({ type: "quest.updated", seq: 1, upTo: 1, data: {} });
    await world.until(() => event.getSnapshot().quests[QUEST] === undefined, "no quest");
    process.off("unhandledRejection", unhandled);
    expect(unhandled).not.toHaveBeenCalled();
  });

  test("report what the server can't see", async () => {
    const event = await world.watchLoaded(SIGNED_IN);
    world.rest[`GET /quest/v2/${QUEST}/progress`] = () => progress(5);
    await event.reportQuestAction(QUEST, "watchTen1");
    expect(world.requests).toContain(`POST /quest/v2/${QUEST}/actions/watchTen1`);
    expect(event.getSnapshot().quests[QUEST]?.actions[0]?.current).toBe(5);
  });

  test("are claimed once, and know it on the next visit", async () => {
    world.rest[`GET /quest/v2/${QUEST}/progress`] = () => progress(10);
    const first = await world.watchLoaded(SIGNED_IN);
    expect(first.getSnapshot().quests[QUEST]?.claim).toBeUndefined();
    expect(await first.claimQuest(QUEST)).toBe("PENDING");
    expect(first.getSnapshot().quests[QUEST]?.claim).toBe("PENDING");
    world.rest["GET /claimstatus/v3"] = () => ({ results: [{ status: "SUCCESS" }] });
    const later = await world.watchLoaded(SIGNED_IN);
    expect(later.getSnapshot().quests[QUEST]?.claim).toBe("SUCCESS");
  });

  test("reject a claim that the server refuses", async () => {
    const event = await world.watchLoaded(SIGNED_IN);
    world.rest[`POST /quest/v2/${QUEST}/claim`] = () => new Refusal(409, "conflict");
    await expect(event.claimQuest(QUEST)).rejects.toMatchObject({ status: 409, code: "conflict" });
    expect(event.getSnapshot().quests[QUEST]?.claim).toBeUndefined();
  });
});

describe("the host app's delegate", () => {
  test("may throw in any method: the event works as if it were absent", async () => {
    const report = vi.spyOn(console, "error").mockReturnValue();
    const fail = () => {
      throw new Error("The host app's own");
    };
    const event = await world.watchLoaded({ getUserToken: fail, userIsAuthenticated: fail, onPanelEvent: fail, trackAction: fail });
    expect(event.getSnapshot()).toMatchObject({ connection: "live", authenticated: false });
    expect(event.openPanel(QUESTS)).toBe(true);
    await expect(event.answerPoll(POLL, HOME)).rejects.toMatchObject({ code: "unauthenticated" });
    expect(report).toHaveBeenCalled();
  });

  test.each([
    ["an id of its own", () => "swid-7", { panelId: QUESTS, swid: "swid-7" }],
    ["an id that takes a while", () => Promise.resolve("swid-7"), { panelId: QUESTS, swid: "swid-7" }],
    ["no id", () => null, { panelId: QUESTS }],
  ])("hears of actions with %s", async (_, getUserSWID, properties) => {
    const actions: TrackedAction[] = [];
    const event = await world.watchLoaded({ getUserSWID, trackAction: (action) => void actions.push(action) });
    event.openPanel(QUESTS);
    await world.until(() => actions.length > 0);
    expect(actions).toEqual([{ name: "panel.open", properties }]);
  });

  test("hears once of what is shown, however often it is drawn", async () => {
    const impressions: TrackedImpression[] = [];
    const event = await world.watchLoaded({ trackImpression: (impression) => void impressions.push(impression) });
    const all: TrackedImpression[] = [
      { kind: "poll", id: POLL },
      { kind: "overlay", id: "goal", broadcastId: "first" },
      { kind: "overlay", id: "goal", broadcastId: "second" },
    ];
    for (const impression of [...all, ...all]) event.shown(impression);
    expect(impressions).toEqual(all);
  });

  test("may reject, as when it can’t show a clip", async () => {
    const report = vi.spyOn(console, "error").mockReturnValue();
    const event = await world.watchLoaded({ playClip: () => Promise.reject(new Error("The host app's own")) });
    await event.playClip({ videoId: "v1", title: "Goal", url: "https://vod.example/1" });
    expect(report).toHaveBeenCalledTimes(1);
  });

  test("shows clips", async () => {
    const shown: string[] = [];
    const event = await world.watchLoaded({ playClip: ({ videoId }) => void shown.push(videoId) });
    await event.playClip({ videoId: "v1", title: "Goal", url: "https://vod.example/1" });
    expect(shown).toEqual(["v1"]);
    expect(event.getSnapshot().playingClipId).toBe("v1");
    event.stopPlayingClip();
    expect(event.getSnapshot().playingClipId).toBeNull();
  });

  test.each([
    ["https://vod.example/1", ["https://vod.example/1"]],
    ["javascript:alert(1)", []],
  ])("opens %s in a tab of its own where it doesn't show clips, and goes on crediting the event", async (url, opened) => {
    const tabs: string[] = [];
    vi.stubGlobal("open", (address: string) => void tabs.push(address));
    const event = await world.watchLoaded();
    event.setPlayer({ mediaTime: () => 12, playing: () => true });
    await event.playClip({ videoId: "v1", title: "Goal", url });
    expect(tabs).toEqual(opened);
    expect(event.getSnapshot().playingClipId).toBeNull();
    await world.until(() => world.channel.heard.some((frame) => frame.type === "watch" && frame.videoId === CHANNEL));
  });

  test("is asked for a token before each connection, which a ticket stands for", async () => {
    await world.watchLoaded(SIGNED_IN);
    expect([...world.channel.viewers].map(({ wire }) => wire.url.searchParams.get("ticket"))).toEqual(["once"]);
    world.channel.cut(() => true);
    await world.until(() => world.requests.filter((request) => request === "POST /realtime/v1/tickets").length === 2);
  });
});

test("nothing changes any more once whoever hears a frame has left", async () => {
  const event = world.watch({}, 0, { onFrame: ({ type }) => type === "concurrents" && event.stop() });
  await world.until(() => event.getSnapshot().connection === "live");
  const before = event.getSnapshot().concurrents;
  world.channel.tell({ type: "concurrents", count: before + 7 });
  await world.until(() => event.isOver(), "the end");
  expect(event.getSnapshot()).toMatchObject({ connection: "offline", concurrents: before });
});

describe("playback", () => {
  test("tells the picture's time, and the server what is watched while it moves", async () => {
    let playing = true;
    const event = await world.watchLoaded();
    event.setPlayer({ mediaTime: () => 12.5, playing: () => playing });
    expect(event.getSnapshot().mediaTime).toBe(12.5);
    const watched = () => world.channel.heard.filter((frame) => frame.type === "watch");
    await world.until(() => watched().length === 2);
    expect(watched()[0]).toEqual({ type: "watch", videoId: CHANNEL, mediaTime: 12.5 });
    playing = false;
    await world.pass(60_000);
    expect(watched().length).toBe(2);
    event.setPlayer(null);
    expect(event.getSnapshot().mediaTime).toBeNull();
  });

  test("goes on after a player that fails, whose time is told as soon as it has one", async () => {
    const told = vi.spyOn(console, "error").mockReturnValue();
    const event = await world.watchLoaded();
    let fails = true;
    const failing = <T>(value: T) => {
      if (fails) throw new Error("the player's");
      return value;
    };
    event.setPlayer({ mediaTime: () => failing(7), playing: () => true, onChange: () => failing(() => {}) });
    expect(event.getSnapshot().mediaTime).toBeNull();
    await world.pass(5_000);
    expect(told).toHaveBeenCalled();
    fails = false;
    await world.until(() => event.getSnapshot().mediaTime === 7, "the picture's time");
    event.setPlayer({ mediaTime: () => 8, playing: () => failing(true) });
    fails = true;
    await world.pass(15_000);
    fails = false;
    await world.until(() => world.channel.heard.some((frame) => frame.type === "watch" && frame.mediaTime === 8), "what is watched");
  });

  test("moves the host app's player", async () => {
    const calls: string[] = [];
    const event = await world.watchLoaded();
    event.setPlayer({
      mediaTime: () => 0,
      playing: () => false,
      play: () => void calls.push("play"),
      pause: () => void calls.push("pause"),
      seek: (seconds) => void calls.push(`seek ${seconds}`),
    });
    await event.play();
    event.seek(30);
    event.pause();
    expect(calls).toEqual(["play", "seek 30", "pause"]);
  });
});
