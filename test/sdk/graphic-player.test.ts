import { expect, test } from "vitest";
import { type GraphicCall, GraphicPlayer } from "#sdk/overlay/graphic/graphic-player.ts";

const CHARACTERISTICS = { resolution: { width: 1280, height: 720 }, frameRate: 60, accessToPublicInternet: false };

function started() {
  const calls: GraphicCall[] = [];
  const player = new GraphicPlayer((call) => calls.push(call));
  const taken = () => calls.splice(0).map(({ method, params }) => [method, params]);
  return { player, calls, taken };
}

const content = (broadcastId: string, name: string, actions: Parameters<GraphicPlayer["show"]>[0]["actions"] = []) => ({
  broadcastId,
  data: { name },
  actions,
});

test("the first broadcast of a graphic loads it, plays it and performs its actions, in order", () => {
  const { player, calls, taken } = started();
  player.load(content("a", "Ada", [{ type: "custom", id: "blink" }]), CHARACTERISTICS, false);
  expect(calls.map(({ number }) => number)).toEqual([1, 2, 3]);
  expect(player.playedBy).toBe(2);
  expect(taken()).toEqual([
    ["load", { data: { name: "Ada" }, renderType: "realtime", renderCharacteristics: CHARACTERISTICS }],
    ["playAction", {}],
    ["customAction", { id: "blink" }],
  ]);
});

test("a later broadcast updates the graphic only if its data differ, and performs its actions once", () => {
  const { player, taken } = started();
  player.load(content("a", "Ada"), CHARACTERISTICS, false);
  taken();
  const next = content("b", "Ada", [{ type: "play", goto: 1 }]);
  player.show(next, false);
  player.show(next, false);
  expect(taken()).toEqual([["playAction", { goto: 1 }]]);
  player.show(content("c", "Noor", [{ type: "play", delta: -1 }]), false);
  expect(taken()).toEqual([
    ["updateAction", { data: { name: "Noor" } }],
    ["playAction", { delta: -1 }],
  ]);
});

test("a broadcast that repeats the actions of an earlier one performs only its own, and one that changes nothing calls nothing", () => {
  const { player, taken } = started();
  player.load(content("a", "Ada"), CHARACTERISTICS, false);
  const first = { type: "custom", id: "first" } as const;
  const second = { type: "custom", id: "second" } as const;
  expect(player.show(content("b", "Ada", [first]), false)).toBe(true);
  taken();
  expect(player.show(content("c", "Ada", [first, second]), false)).toBe(true);
  expect(taken()).toEqual([["customAction", { id: "second" }]]);
  expect(player.show(content("d", "Ada"), false)).toBe(false);
  expect(taken()).toEqual([]);
});

test("a stopped graphic is stopped once, and played from its first step by the next broadcast", () => {
  const { player, taken } = started();
  player.load(content("a", "Ada"), CHARACTERISTICS, false);
  taken();
  player.stop(false);
  player.stop(false);
  expect(taken()).toEqual([["stopAction", {}]]);
  player.show(content("b", "Noor"), false);
  expect(taken()).toEqual([
    ["updateAction", { data: { name: "Noor" } }],
    ["playAction", { goto: 0 }],
  ]);
  player.dispose();
  player.dispose();
  expect(taken()).toEqual([["dispose", {}]]);
});

test("every animation is skipped for viewers who want reduced motion, otherwise only where a broadcast says so", () => {
  const { player, taken } = started();
  player.load(content("a", "Ada", [{ type: "stop", skipAnimation: true }]), CHARACTERISTICS, false);
  expect(taken().slice(1)).toEqual([
    ["playAction", {}],
    ["stopAction", { skipAnimation: true }],
  ]);
  player.show(content("b", "Noor", [{ type: "play" }, { type: "custom", id: "blink", payload: 1 }]), true);
  expect(taken()).toEqual([
    ["updateAction", { data: { name: "Noor" }, skipAnimation: true }],
    ["playAction", { skipAnimation: true }],
    ["customAction", { id: "blink", payload: 1, skipAnimation: true }],
  ]);
});

test("nothing is called before the graphic is loaded", () => {
  const { player, taken } = started();
  player.show(content("a", "Ada"), false);
  player.stop(false);
  player.dispose();
  expect(taken()).toEqual([]);
});
