import { type ChannelConnection, joinChannel, type MediaTimeSync, syncToMediaTime, type ServerFrame } from "../channel/index.ts";
import { safely } from "../channel/report.ts";
import type { WatchOptions } from "../model/core.ts";
import type { TrackedImpression } from "../model/event-delegate.ts";
import type { KeyPlay, TifoEventViewModel } from "../model/event-interface.ts";
import type { Clip, PlayerAdapter } from "../model/player.ts";
import type { ConnectionState, PanelInfo, PanelKind, TifoEventState } from "../model/state.ts";
import { serverClock } from "./clock.ts";
import { loadPanelData } from "./panel-data.ts";
import { signInRequired } from "./engagement.ts";
import { afterDismissal, afterRender, afterFrame, afterTime, EMPTY_BOARD, type Moment, nextChange } from "./overlays.ts";
import { findPanel, pollsOf, questsOf } from "./panels.ts";
import { rulesAfter } from "./rules.ts";
import type { Session } from "./session.ts";
import { createStore } from "./store.ts";
import { createVotes } from "./votes.ts";
import { openLink } from "./web-address.ts";

const MEDIA_TIME_MS = 1_000;
/** How often the server hears what is being watched. */
const WATCH_MS = 10_000;

/** An event that is being watched, with the end of it. */
export interface WatchedEvent extends TifoEventViewModel {
  readonly keyPlays: readonly KeyPlay[];
  /** Something stands on the screen: told to the host app once. */
  shown(impression: TrackedImpression): void;
  /** Somebody draws overlays and tells of each content by `drew`: the next one waits for that. Returns the function that ends this. */
  attachRenderer(): () => void;
  /** A content of an overlay stands on the screen. */
  overlayRendered(broadcastId: string): void;
  /** Whether it was stopped, or the channel refused the viewer for good. */
  isClosed(): boolean;
  /** Somebody signed in or out: joins the channel as them and loads what is theirs. */
  userDidChange(): Promise<void>;
  stop(): void;
}

/** Who listens to what travels. */
export type FrameListeners = Pick<WatchOptions, "onFrame" | "onSent">;

/** Joins a channel, loads what its page shows and keeps both up to date. */
export function watchEvent(session: Session, channelId: string, { onFrame, onSent }: FrameListeners = {}): WatchedEvent {
  const { delegate, environment } = session;
  const store = createStore<TifoEventState>(emptyState(channelId));
  const clock = serverClock(() => environment.now());
  const inServerTime = { ...environment, now: () => clock.now() };
  const picture: MediaTimeSync = syncToMediaTime(inServerTime, show);
  let board = EMPTY_BOARD;
  let player: PlayerAdapter | null = null;
  let keyPlays: readonly KeyPlay[] = [];
  let watchedAt = 0;
  /** The panel that the server knows to be open, on this connection. */
  let toldPanelId: string | null = null;
  /** Ids of polls, quests and broadcasts that the host app knows to have been shown. */
  const seen = new Set<string>();
  /** How many draw overlays. */
  let drawers = 0;
  let boardTimer: ReturnType<typeof environment.setTimer> | undefined;
  let tickTimer: ReturnType<typeof environment.setTimer> | undefined;

  const connection: ChannelConnection = joinChannel({
    origin: session.origin,
    clientId: session.clientId,
    deviceId: session.deviceId,
    channelId,
    environment,
    getTicket: () => session.ticket(channelId),
    playing: () => player?.playing() === true,
    onState: setConnection,
    onFrame(frame) {
      safely(() => onFrame?.(frame));
      // Whoever hears a frame may stop watching.
      if (!connection.isClosed()) receive(frame);
    },
    onSent,
  });
  const votes = createVotes(environment, (frame) => connection.send(frame));
  const panelData = loadPanelData(session, channelId, store, tellPanel);
  const { engagement, setPoll, setQuest } = panelData;
  tick();

  function set(changes: Partial<TifoEventState>): void {
    store.update((state) => ({ ...state, ...changes }));
  }

  function setConnection(state: ConnectionState, reason?: string): void {
    set({ connection: state, reason });
  }

  /** What came over the connection, in order. Broadcasts may wait for their picture; all else happens now. */
  function receive(frame: ServerFrame): void {
    switch (frame.type) {
      case "welcome":
        if (Number.isFinite(frame.now)) clock.reset(frame.now);
        set({ concurrents: frame.concurrents, rules: rulesAfter(store.getSnapshot().rules, frame) });
        votes.resend();
        toldPanelId = null;
        tellPanel();
        panelData.onWelcome(frame.recovered);
        break;
      case "rule":
        set({ rules: rulesAfter(store.getSnapshot().rules, frame) });
        break;
      case "overlay.show":
        clock.observe(frame.startsAt);
        break;
      case "concurrents":
        set({ concurrents: frame.count });
        break;
      case "poll.updated":
        panelData.applyPollResults(frame.data);
        break;
      case "vote.result":
        votes.settle(frame);
        break;
      case "stream.live":
      case "stream.offline":
        set({ live: frame.type === "stream.live" });
        break;
      case "page.updated":
        panelData.onPageChanged();
        break;
      case "quest.updated":
        panelData.onQuestsChanged();
        break;
      default:
    }
    picture.take(frame);
  }

  function show(frame: ServerFrame): void {
    setBoard(afterFrame(board, frame, moment()));
  }

  function moment(): Moment {
    // A hidden page draws nothing.
    return { now: clock.now(), drawing: drawers > 0 && !environment.hidden() };
  }

  function setBoard(next: typeof board): void {
    if (next === board) return;
    // What is over needs no remembering.
    const kept = new Set(next.entries.map(({ overlay }) => overlay.broadcastId));
    for (const { overlay } of board.entries) if (!kept.has(overlay.broadcastId)) seen.delete(overlay.broadcastId);
    board = next;
    store.update((state) => (state.overlays === board.shown ? state : { ...state, overlays: board.shown }));
    for (const { overlayId, broadcastId } of next.dropped) delegate.track("overlay.dropped", { overlayId, broadcastId });
    environment.clearTimer(boardTimer);
    const now = moment();
    const change = nextChange(board, now);
    if (change === undefined) return;
    boardTimer = environment.setTimer(() => setBoard(afterTime(board, moment())), Math.max(0, change - now.now) + 1);
  }

  /** The server hears which panel is open: quests count it. */
  function tellPanel(): void {
    const { openPanelId } = store.getSnapshot();
    if (openPanelId === null || openPanelId === toldPanelId) return;
    if (connection.send({ type: "panel", panelId: openPanelId })) toldPanelId = openPanelId;
  }

  /** Once a second: the picture's time for who shows it, and every ten what is being watched for the server. */
  function tick(): void {
    const mediaTime = picture.mediaTime();
    if (mediaTime !== store.getSnapshot().mediaTime) set({ mediaTime });
    if (mediaTime !== null && environment.now() - watchedAt >= WATCH_MS && safely(() => player?.playing()) === true) {
      watchedAt = environment.now();
      connection.send({ type: "watch", videoId: store.getSnapshot().playingClipId ?? channelId, mediaTime: Math.max(0, mediaTime) });
    }
    tickTimer = environment.setTimer(tick, MEDIA_TIME_MS);
  }

  async function requireViewer(panelId?: string): Promise<void> {
    const authenticated = await delegate.isAuthenticated();
    if (authenticated !== store.getSnapshot().authenticated) set({ authenticated });
    if (authenticated) return;
    delegate.tell((host) => host.onPanelEvent?.({ type: "loginRequested", panelId }));
    throw signInRequired();
  }

  function panelWith(holds: (panel: PanelInfo) => boolean): string {
    return store.getSnapshot().panels.find(holds)?.id ?? "";
  }

  return {
    channelId,
    subscribe: store.subscribe,
    getSnapshot: store.getSnapshot,
    get keyPlays() {
      return keyPlays;
    },
    getPanels: () => store.getSnapshot().panels,
    getDefaultPanel: () => store.getSnapshot().panels[0] ?? null,

    openPanel(wanted: string | { kind: PanelKind }) {
      const panel = findPanel(store.getSnapshot().panels, wanted);
      if (!panel) return false;
      set({ openPanelId: panel.id });
      toldPanelId = null;
      tellPanel();
      delegate.tell((host) => host.onPanelEvent?.({ type: "opened", panelId: panel.id, kind: panel.kind }));
      delegate.track("panel.open", { panelId: panel.id });
      return true;
    },
    closePanel() {
      const { panels, openPanelId } = store.getSnapshot();
      const panel = panels.find(({ id }) => id === openPanelId);
      set({ openPanelId: null });
      if (panel) delegate.tell((host) => host.onPanelEvent?.({ type: "closed", panelId: panel.id, kind: panel.kind }));
    },
    updateKeyPlays(plays) {
      keyPlays = plays;
      // The same panels in a new list: who shows them looks again.
      set({ panels: [...store.getSnapshot().panels] });
    },

    setPlayer(next) {
      player = next;
      picture.setPlayer(next);
      set({ mediaTime: picture.mediaTime() });
    },
    async play() {
      await player?.play?.();
    },
    pause: () => player?.pause?.(),
    seek: (seconds) => player?.seek?.(seconds),
    async playClip(clip: Clip) {
      // In a tab of its own it is not this event's picture, and nobody would say when it has ended.
      if (!delegate.has("playClip")) return openLink(clip.url);
      set({ playingClipId: clip.videoId });
      return delegate.ask((host) => host.playClip?.(clip), undefined);
    },
    stopPlayingClip: () => set({ playingClipId: null }),

    async answerPoll(pollId, answerId) {
      const panelId = panelWith((panel) => pollsOf(panel).includes(pollId));
      await requireViewer(panelId);
      await (votes.cast(pollId, answerId) ?? engagement.answer(pollId, answerId));
      const poll = store.getSnapshot().polls[pollId];
      if (poll) setPoll({ ...poll, myAnswerId: answerId });
      delegate.tell((host) => host.onPanelEvent?.({ type: "answered", panelId, pollId, answerId }));
      delegate.track("poll.answer", { pollId, answerId });
    },
    async reportQuestAction(questId, arrayId, value) {
      await requireViewer();
      await engagement.report(questId, arrayId, value);
      await panelData.loadQuests([questId]);
    },
    async claimQuest(questId) {
      const panelId = panelWith((panel) => questsOf(panel).includes(questId));
      await requireViewer(panelId);
      const status = await engagement.claim(questId);
      const quest = store.getSnapshot().quests[questId];
      if (quest) setQuest({ ...quest, claim: status });
      delegate.tell((host) => host.onPanelEvent?.({ type: "claimed", panelId, questId, status }));
      delegate.track("quest.claim", { questId, status });
      return status;
    },
    shown(impression) {
      const id = impression.broadcastId ?? impression.id;
      if (seen.has(id)) return;
      seen.add(id);
      delegate.tell((host) => host.trackImpression?.(impression));
    },
    attachRenderer() {
      drawers++;
      return () => void drawers--;
    },
    overlayRendered(broadcastId) {
      setBoard(afterRender(board, broadcastId, moment()));
    },
    dismissOverlay(broadcastId) {
      setBoard(afterDismissal(board, broadcastId, moment()));
    },

    isClosed: () => connection.isClosed(),
    async userDidChange() {
      votes.drop();
      connection.rejoin();
      await panelData.reload();
    },

    stop() {
      connection.leave();
      panelData.stop();
      picture.stop();
      environment.clearTimer(boardTimer);
      environment.clearTimer(tickTimer);
      board = EMPTY_BOARD;
      set({ connection: "offline", reason: "Not being watched any more.", overlays: board.shown });
    },
  };
}

function emptyState(channelId: string): TifoEventState {
  return {
    channelId,
    connection: "connecting",
    concurrents: 0,
    live: false,
    title: "",
    theme: null,
    panels: [],
    openPanelId: null,
    overlays: [],
    polls: {},
    quests: {},
    rules: [],
    authenticated: false,
    mediaTime: null,
    playingClipId: null,
  };
}
