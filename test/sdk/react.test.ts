import { createElement } from "react";
import { renderToString } from "react-dom/server";
import { expect, test, vi } from "vitest";
import { createTifo } from "#sdk/core/core.ts";
import * as renderer from "#sdk/react/mount.tsx";
import { TifoEventProvider, TifoPanel, useEventState } from "#sdk/react/index.ts";
import { CHANNEL, EventWorld, POLL, SITE } from "./event-world.ts";

const world = new EventWorld();

function Connection() {
  return createElement("p", null, useEventState().connection);
}

function Title() {
  return createElement(
    "b",
    null,
    useEventState(({ title }) => title),
  );
}

test("components only need the event's view model", async () => {
  vi.stubGlobal("fetch", world.fetch);
  const tifo = createTifo(renderer, "https://tifo.example", world.environment);
  tifo.configure({ clientId: SITE });
  const event = await tifo.userDidStartWatchingEvent({ channelId: CHANNEL });
  await world.until(() => event.getSnapshot().connection === "live" && event.getSnapshot().polls[POLL] !== undefined);
  const parts = [TifoPanel, Connection, Title].map((part) => createElement(part, { key: part.name }));
  const html = renderToString(createElement(TifoEventProvider, { event }, parts));
  expect(html).toContain("Who wins the derby?");
  expect(html).toContain("<p>live</p>");
  expect(html).toContain("<b>Main stage</b>");
  const copy = { ...event };
  expect(() => renderToString(createElement(TifoEventProvider, { event: copy }))).toThrow(TypeError);
  tifo.userDidStopWatchingEvent();
});

test("components throw without an event", () => {
  expect(() => renderToString(createElement(TifoPanel))).toThrow("TifoEventProvider");
});
