import { ok, type Schemas } from "../client/index.ts";
import { changeLatest, loaded } from "../client/latest.ts";
import type { WatchedEvent } from "./event.ts";
import type { Session } from "./session.ts";
import { createStore } from "./store.ts";

export type Rank = Schemas["Rank"];
export type OwnRank = Schemas["OwnRank"];

/** A leaderboard as this viewer sees it. */
export interface RanksState {
  status: "loading" | "ready" | "failed";
  /** The first members, at most ten. */
  top: readonly Rank[];
  /** This viewer's own rank with its neighbours; null if nobody is signed in. */
  own: OwnRank | null;
}

/** A leaderboard, kept up to date while there is a listener. */
export interface Ranks {
  subscribe: (listener: () => void) => () => void;
  getSnapshot: () => RanksState;
  reload(): Promise<void>;
  /** Hides this viewer's name from others, or shows it again. */
  setHidden(hidden: boolean): Promise<void>;
}

const TOP = 10;
const NEIGHBOURS = 2;
/**
 * After a change of the top, which reaches all viewers at once, each loads its own rank after this long to twice as long (ms), and longer on
 * a channel with many viewers: one object answers them all.
 */
const OWN_MS = 8_000;
const OWN_MS_PER_VIEWER = 5;

const INITIAL: RanksState = { status: "loading", top: [], own: null };

/** The top comes over the channel; only this viewer's own rank has to be asked for. */
export function createRanks(
  { client, environment }: Session,
  event: Pick<WatchedEvent, "onFrame" | "topOf" | "getSnapshot">,
  leaderboardId: string,
): Ranks {
  const store = createStore(INITIAL);
  const { api } = client;
  const path = { id: leaderboardId };
  let listeners = 0;
  let removeFrames: (() => void) | undefined;
  let timer: ReturnType<typeof environment.setTimer> | undefined;
  /** Counts loads: what an earlier one returns is dropped. */
  let loads = 0;

  function set(changes: Partial<RanksState>): void {
    if (listeners > 0) store.update((state) => ({ ...state, ...changes }));
  }

  /** Every change is sent, so the latest frame is the current state. */
  async function loadTop(): Promise<readonly Rank[]> {
    const sent = event.topOf(leaderboardId);
    if (sent) return sent;
    return (await ok(api.GET("/leaderboard/v1/{id}/ranks", { params: { path, query: { limit: TOP } } }))).results;
  }

  async function loadOwn(): Promise<OwnRank | null> {
    if ((await client.token()) === null) return null;
    return ok(api.GET("/leaderboard/v1/{id}/ranks/me", { params: { path, query: { neighbours: NEIGHBOURS } } }));
  }

  async function reload(): Promise<void> {
    const load = ++loads;
    try {
      const [top, own] = await Promise.all([loadTop(), loadOwn()]);
      // A frame may have been faster than the response.
      if (load === loads) set({ status: "ready", top: event.topOf(leaderboardId) ?? top, own });
    } catch {
      if (load === loads && store.getSnapshot().status !== "ready") set({ status: "failed" });
    }
  }

  /** A frame can't contain the viewer's own rank, which is loaded a while later if the page is visible. */
  function refreshOwn(): void {
    const wait = Math.max(OWN_MS, event.getSnapshot().concurrents * OWN_MS_PER_VIEWER);
    timer ??= environment.setTimer(
      () => {
        timer = undefined;
        if (environment.hidden()) return refreshOwn();
        const load = loads;
        loadOwn().then(
          (own) => load === loads && set({ own }),
          () => undefined,
        );
      },
      wait * (1 + environment.random()),
    );
  }

  function start(): void {
    removeFrames = event.onFrame((frame) => {
      // A new connection may belong to another viewer, and its own rank may have changed meanwhile.
      if (frame.type === "welcome") refreshOwn();
      if (frame.type !== "leaderboard.updated" || frame.leaderboard.leaderboardId !== leaderboardId) return;
      set({ top: frame.leaderboard.top });
      refreshOwn();
    });
    void reload();
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
      if (listeners++ === 0) start();
      return () => {
        unsubscribe();
        if (--listeners === 0) stop();
      };
    },
    reload,
    async setHidden(hidden) {
      const { own } = store.getSnapshot();
      if (!own) return;
      const account = { params: { path: { id: own.accountId } } };
      // Shown at once, and undone if it fails.
      set({ own: { ...own, hidden } });
      try {
        // The operation replaces these too.
        await changeLatest(
          () => loaded(api.GET("/account/v3/{id}", account)),
          ({ name, marketingOptin }, headers) =>
            ok(api.PUT("/account/v3/{id}", { ...account, body: { name, marketingOptin, leaderboardHidden: hidden }, headers })),
        );
      } catch (error) {
        const now = store.getSnapshot().own;
        if (now) set({ own: { ...now, hidden: own.hidden } });
        throw error;
      }
    },
  };
}
