import { beforeEach, expect, test, vi } from "vitest";
import { createTifo } from "#sdk/core/core.ts";
import { createLegacy } from "#sdk/script/legacy.ts";
import { CHANNEL, EventWorld, POLL, SITE } from "./event-world.ts";

const rendered = () => ({ unmount: vi.fn(), focus: vi.fn(), setSafeArea: vi.fn() });
const renderer = { mountPanel: rendered, mountChat: rendered, mountOverlay: rendered };

let world: EventWorld;

beforeEach(() => {
  world = new EventWorld();
  vi.stubGlobal("fetch", world.fetch);
});

function legacyPage() {
  const tifo = createTifo(renderer, "https://tifo.example", world.environment);
  return { tifo, legacy: createLegacy(tifo) };
}

test("a page that never sets a time has no player, so that nothing waits for its video", async () => {
  const { tifo, legacy } = legacyPage();
  await legacy.init({ siteId: SITE, channelId: CHANNEL });
  const event = tifo.getTifoEventViewModel();
  if (!event) throw new Error("No event");
  const players = vi.spyOn(event, "setPlayer");
  expect(players).not.toHaveBeenCalled();
  legacy.setTime(12);
  legacy.setTime(13);
  expect(players).toHaveBeenCalledTimes(1);
  const [player] = players.mock.calls[0] ?? [];
  expect(player?.mediaTime()).toBe(13);
  legacy.destroy();
  expect(tifo.getTifoEventViewModel()).toBeNull();
});

test("init starts over, without the previous event's time", async () => {
  const { tifo, legacy } = legacyPage();
  await legacy.init({ siteId: SITE, channelId: CHANNEL });
  legacy.setTime(40);
  const first = tifo.getTifoEventViewModel();
  await legacy.init({ siteId: SITE, channelId: CHANNEL });
  const second = tifo.getTifoEventViewModel();
  if (!second) throw new Error("No event");
  expect(second).not.toBe(first);
  const players = vi.spyOn(second, "setPlayer");
  legacy.setTime(1);
  expect(players).toHaveBeenCalledTimes(1);
  legacy.destroy();
});

test("panels open by id or kind", async () => {
  const { tifo, legacy } = legacyPage();
  expect(legacy.showPanel("poll")).toBe(false);
  await legacy.init({ siteId: SITE, channelId: CHANNEL });
  const event = tifo.getTifoEventViewModel();
  await world.until(() => event?.getSnapshot().polls[POLL] !== undefined);
  const [panel] = event?.getPanels() ?? [];
  expect(legacy.showPanel("no such panel")).toBe(false);
  expect(legacy.showPanel(panel?.kind ?? "")).toBe(true);
  expect(event?.getSnapshot().openPanelId).toBe(panel?.id);
  legacy.destroy();
});
