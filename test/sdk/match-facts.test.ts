import { afterEach, beforeEach, describe, expect, test, vi } from "vitest";
import type { WatchedEvent } from "#sdk/core/event.ts";
import { performCallToAction } from "#sdk/core/calls-to-action.ts";
import { createMatchFacts, type MatchFacts, type MatchKeyPlay, type StatEntity } from "#sdk/core/match-facts.ts";
import { createSession, type Session } from "#sdk/core/session.ts";
import { ApiError, CHANNEL, EventWorld, SITE } from "./event-world.ts";

const ENTITIES = `GET /stats/v1/channels/${CHANNEL}/entities`;
const PLAYS = `GET /stats/v1/channels/${CHANNEL}/key-plays`;
const CONFIGURATION = { clientId: SITE, origin: "https://tifo.example", deviceId: "device" };

const entity = (name: string, goals: number): StatEntity => ({
  ...{ _id: `id-${name}`, channelId: CHANNEL, entityType: "player", externalId: name, name, image: null, team: "Home", at: 1 },
  facts: { goals: { value: goals, at: 1 } },
});
const play = (id: string, at: number, title = id): MatchKeyPlay => ({
  ...{ _id: id, channelId: CHANNEL, kind: "goal", title, description: null, entityId: null, mediaTime: at, at },
});

let world: EventWorld;
let event: WatchedEvent;
let facts: MatchFacts;
let session: Session;
let entities: StatEntity[];

beforeEach(() => {
  world = new EventWorld();
  vi.stubGlobal("fetch", world.fetch);
  entities = [entity("Bo", 0), entity("Ada", 1)];
  world.rest[ENTITIES] = () => ({ results: entities, pagination: {} });
  world.rest[PLAYS] = () => ({ results: [play("late", 20), play("early", 10)], pagination: {} });
});

afterEach(() => {
  vi.unstubAllGlobals();
});

async function open(): Promise<() => void> {
  event = await world.watchLoaded();
  session = createSession(CONFIGURATION, undefined, world.environment);
  facts = createMatchFacts(session, event);
  const stop = facts.subscribe(() => undefined);
  await world.until(() => facts.getSnapshot().status !== "loading");
  return stop;
}

const goals = () => facts.getSnapshot().entities.map(({ name, facts: { goals: fact } }) => [name, fact?.value]);
const titles = () => facts.getSnapshot().plays.map(({ title }) => title);
const loads = () => world.requests.filter((request) => request === ENTITIES).length;

describe("the match facts of an event", () => {
  test("are loaded once, and follow the channel without a further request", async () => {
    await open();
    expect(goals()).toEqual([
      ["Ada", 1],
      ["Bo", 0],
    ]);
    world.channel.send({ type: "entity.updated", entity: entity("Bo", 2) });
    world.channel.send({ type: "entity.updated", entity: entity("Cleo", 1) });
    world.channel.send({ type: "keyPlay.updated", keyPlay: play("late", 20, "Corrected") });
    world.channel.send({ type: "keyPlay.updated", keyPlay: play("latest", 30) });
    await world.until(() => titles().includes("latest"));
    expect(goals()).toEqual([
      ["Ada", 1],
      ["Bo", 2],
      ["Cleo", 1],
    ]);
    expect(titles()).toEqual(["latest", "Corrected", "early"]);
    expect(loads()).toBe(1);
  });

  test("are loaded again after a reconnection, because frames that were missed aren't sent again", async () => {
    await open();
    entities = [entity("Ada", 5)];
    world.channel.cut(() => true);
    await world.until(() => loads() === 2);
    await world.until(() => goals().length === 1);
    expect(goals()).toEqual([["Ada", 5]]);
  });

  test("don't go back to a response that is older than a frame", async () => {
    await open();
    const response = Promise.withResolvers<void>();
    world.rest[ENTITIES] = async () => {
      await response.promise;
      return { results: entities, pagination: {} };
    };
    const reloaded = facts.reload();
    world.channel.send({ type: "entity.updated", entity: entity("Ada", 9) });
    await world.until(() => goals().some(([, value]) => value === 9));
    response.resolve();
    await reloaded;
    expect(goals()).toEqual([
      ["Ada", 9],
      ["Bo", 0],
    ]);
  });

  test("stay on the screen when loading them again fails", async () => {
    await open();
    world.rest[ENTITIES] = () => new ApiError(503, "unavailable");
    await facts.reload();
    expect(facts.getSnapshot().status).toBe("ready");
    expect(goals()).toHaveLength(2);
  });

  test("are neither loaded nor kept up to date once nobody shows them", async () => {
    const stop = await open();
    stop();
    world.channel.cut(() => true);
    await world.advance(60_000);
    expect(loads()).toBe(1);
  });
});

const PEOPLE = ["5eed0000000000000000d101", "5eed0000000000000000d102"];

describe("a call to action about a person", () => {
  beforeEach(() => {
    const configuration = world.rest[`GET /page/v2/configuration/${CHANNEL}`];
    world.rest[`GET /page/v2/configuration/${CHANNEL}`] = (request) => {
      const page = configuration?.(request);
      const panels = PEOPLE.map((_id, index) => ({
        ...{ _id, slug: "people", panel_name: "People", panel_type: "peopleGroups", icon_name: null },
        renderer: {
          ...{ panel_type: "peopleGroups", panel_name: "People" },
          people: index === 0 ? [] : [{ id: "moreno", person_name: "Ada Moreno", person_links: [] }],
          groups: index === 0 ? [] : [{ id: "first-team", group_name: "First team", group_links: [] }],
        },
      }));
      return typeof page === "object" ? { ...page, panels } : page;
    };
  });

  const perform = async (type: "show_person" | "show_group" | "show_player_stats", id: string) => {
    event = world.watch();
    session = createSession(CONFIGURATION, undefined, world.environment);
    await world.until(() => event.getPanels().length === 2);
    const call = {
      show_person: { type: "show_person" as const, data: { personId: id } },
      show_group: { type: "show_group" as const, data: { groupId: id } },
      show_player_stats: { type: "show_player_stats" as const, data: { playerId: id } },
    }[type];
    await performCallToAction(call, new EventTarget(), event, session);
    const { openPanelId, panelFocus } = event.getSnapshot();
    return { openPanelId, panelFocus };
  };

  test("opens the panel that lists the person, and focuses them there", async () => {
    expect(await perform("show_person", "moreno")).toEqual({ openPanelId: PEOPLE[1], panelFocus: { kind: "person", id: "moreno" } });
    expect(await perform("show_group", "first-team")).toEqual({ openPanelId: PEOPLE[1], panelFocus: { kind: "group", id: "first-team" } });
  });

  test("opens the first panel of people for somebody whom none lists, such as a player of the match facts", async () => {
    expect(await perform("show_person", "okafor")).toEqual({ openPanelId: PEOPLE[0], panelFocus: { kind: "person", id: "okafor" } });
    expect(await perform("show_player_stats", "okafor")).toEqual({ openPanelId: PEOPLE[0], panelFocus: { kind: "player", id: "okafor" } });
  });

  test("is over once another panel is opened or it is closed", async () => {
    await perform("show_person", "moreno");
    event.openPanel(PEOPLE[0] ?? "");
    expect(event.getSnapshot().panelFocus).toBeNull();
    event.openPanel(PEOPLE[1] ?? "", { kind: "person", id: "moreno" });
    event.closePanel();
    expect(event.getSnapshot().panelFocus).toBeNull();
  });
});
