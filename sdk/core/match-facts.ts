import type { ServerFrame } from "../channel/index.ts";
import { ok, type Schemas } from "../client/index.ts";
import type { WatchedEvent } from "./event.ts";
import type { Session } from "./session.ts";
import { createStore } from "./store.ts";

export type StatEntity = Schemas["StatEntity"];
export type MatchKeyPlay = Schemas["KeyPlay"];

/** What data providers have reported about a channel's event. */
export interface MatchFactsState {
  status: "loading" | "ready" | "failed";
  /** Players, teams and whatever else the site's mapping has, by name. */
  entities: readonly StatEntity[];
  /** The latest first. */
  plays: readonly MatchKeyPlay[];
}

/** The channel's match facts, kept up to date while there is a listener. */
export interface MatchFacts {
  subscribe: (listener: () => void) => () => void;
  getSnapshot: () => MatchFactsState;
  reload(): Promise<void>;
}

/** Entities and key plays that are loaded; frames may add more. */
const LIMIT = 200;
/** After a connection starts, which may happen to all viewers at once, each loads after a random delay of up to this long (ms). */
const SPREAD_MS = 2_000;

const INITIAL: MatchFactsState = { status: "loading", entities: [], plays: [] };

/** Each change comes over the channel; everything is loaded at first, and after a connection starts, because changes aren't sent again. */
export function createMatchFacts({ client, environment }: Session, event: Pick<WatchedEvent, "channelId" | "onFrame">): MatchFacts {
  const store = createStore(INITIAL);
  const { api } = client;
  const params = { path: { channelId: event.channelId }, query: { limit: LIMIT } };
  /** What frames have brought since the load in progress began: its response may be older. */
  let newer: Pick<MatchFactsState, "entities" | "plays"> = INITIAL;
  let listeners = 0;
  /** Counts loads: what an earlier one returns is dropped. */
  let loads = 0;
  let removeFrames: (() => void) | undefined;
  let timer: ReturnType<typeof environment.setTimer> | undefined;

  function set(changes: Partial<MatchFactsState>): void {
    if (listeners > 0) store.update((state) => ({ ...state, ...changes }));
  }

  async function reload(): Promise<void> {
    const load = ++loads;
    newer = INITIAL;
    try {
      const [entities, plays] = await Promise.all([
        ok(api.GET("/stats/v1/channels/{channelId}/entities", { params })),
        ok(api.GET("/stats/v1/channels/{channelId}/key-plays", { params })),
      ]);
      if (load !== loads) return;
      set({ status: "ready", entities: byName(entities.results, newer.entities), plays: latestFirst(plays.results, newer.plays) });
    } catch {
      if (load === loads && store.getSnapshot().status !== "ready") set({ status: "failed" });
    }
  }

  function reloadSoon(): void {
    timer ??= environment.setTimer(() => {
      timer = undefined;
      void reload();
    }, environment.random() * SPREAD_MS);
  }

  function receive(frame: ServerFrame): void {
    if (frame.type === "welcome") reloadSoon();
    if (frame.type === "entity.updated") {
      newer = { ...newer, entities: byName(newer.entities, [frame.entity]) };
      set({ entities: byName(store.getSnapshot().entities, [frame.entity]) });
    }
    if (frame.type === "keyPlay.updated") {
      newer = { ...newer, plays: latestFirst(newer.plays, [frame.keyPlay]) };
      set({ plays: latestFirst(store.getSnapshot().plays, [frame.keyPlay]) });
    }
  }

  function stop(): void {
    removeFrames?.();
    environment.clearTimer(timer);
    timer = undefined;
    loads++;
  }

  return {
    getSnapshot: store.getSnapshot,
    subscribe(listener) {
      const unsubscribe = store.subscribe(listener);
      if (listeners++ === 0) {
        removeFrames = event.onFrame(receive);
        void reload();
      }
      return () => {
        unsubscribe();
        if (--listeners === 0) stop();
      };
    },
    reload,
  };
}

function byName(known: readonly StatEntity[], changed: readonly StatEntity[]): StatEntity[] {
  return replaced(known, changed).sort((one, other) => one.name.localeCompare(other.name) || (one._id < other._id ? -1 : 1));
}

function latestFirst(known: readonly MatchKeyPlay[], changed: readonly MatchKeyPlay[]): MatchKeyPlay[] {
  return replaced(known, changed).sort((one, other) => other.at - one.at || (one._id < other._id ? 1 : -1));
}

function replaced<T extends { _id: string }>(known: readonly T[], changed: readonly T[]): T[] {
  return [...new Map([...known, ...changed].map((one) => [one._id, one])).values()];
}
