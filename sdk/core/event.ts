import {
  type ChannelConnection,
  joinChannel,
  type MediaTimeSync,
  syncToMediaTime,
  type ServerFrame,
  type ViewerFrame,
} from "../channel/index.ts";
import { safely } from "../channel/report.ts";
import type { WatchOptions } from "../model/core.ts";
import type { TrackedImpression } from "../model/event-delegate.ts";
import type { KeyPlay, TifoEventViewModel } from "../model/event-interface.ts";
import type { Clip, PlayerAdapter } from "../model/player.ts";
import type { ConnectionState, PanelFocus, PanelInfo, PanelKind, TifoEventState } from "../model/state.ts";
import { serverClock } from "./clock.ts";
import { loadPanelData } from "./panel-data.ts";
import { signInRequired } from "./engagement.ts";
import { afterDismissal, afterRender, afterFrame, afterTime, EMPTY_BOARD, type Moment, nextChange } from "./overlays.ts";
import { findPanel, pollsOf, questsOf } from "./panels.ts";
import { type ReportedEntry, reportImpressions } from "./impressions.ts";
import { loadRecording } from "./recording.ts";
import { rulesAfter } from "./rules.ts";
import type { Session } from "./session.ts";
import { createStore } from "./store.ts";
import { createQuestions } from "./questions.ts";
import { createVotes } from "./votes.ts";
import { openLink } from "./web-address.ts";

const MEDIA_TIME_MS = 1_000;
/** How often the server is notified of what is being watched. */
const WATCH_MS = 10_000;

type SentTop = Extract<ServerFrame, { type: "leaderboard.updated" }>["leaderboard"]["top"];

/** An event that is being watched, with the methods that only the SDK calls. */
export interface WatchedEvent extends TifoEventViewModel {
  readonly keyPlays: readonly KeyPlay[];
  /** Reports to the host app and the site that something is visible; everything but panels once. */
  trackImpression(impression: TrackedImpression): void;
  /** Reports to the site what the viewer did. */
  reportAction(entry: ReportedEntry): void;
  /** Registers a renderer that reports each element with `overlayRendered`, which the next overlay waits for. Returns a function that unregisters it. */
  attachRenderer(): () => void;
  /** An element of an overlay is visible. */
  overlayRendered(broadcastId: string): void;
  /** The server's clock, in ms since 1970 UTC. */
  readonly serverNow: () => number;
  /** The same for what is on an overlay: that of the video which it belongs to, which pauses and is repeated. */
  overlayNow(broadcastId: string): number;
  /** Loads a poll that no panel contains, and keeps it up to date. Safe to repeat. */
  followPoll(pollId: string): void;
  /** Sends a frame. Returns false if there is no open socket. */
  send(frame: ViewerFrame): boolean;
  /** Whether the connection can't send frames: requests have to replace them. */
  isReceiveOnly(): boolean;
  /** Calls the listener with each frame, and returns a function that removes it. */
  onFrame(listener: (frame: ServerFrame) => void): () => void;
  /** The top of a leaderboard that this viewer has received last. */
  topOf(leaderboardId: string): SentTop | undefined;
  /** Whether it was stopped, or the channel has rejected the viewer for good. */
  isClosed(): boolean;
  /** A viewer signed in or out: rejoins the channel as the new viewer and loads their data. */
  userDidChange(): Promise<void>;
  stop(): void;
}

/** Listeners of the frames in both directions. */
export type FrameListeners = Pick<WatchOptions, "onFrame" | "onSent">;

/** Joins a channel, loads the contents of its page, and keeps both up to date. */
export function watchEvent(session: Session, channelId: string, { onFrame, onSent }: FrameListeners = {}): WatchedEvent {
  const { delegate, environment } = session;
  const store = createStore<TifoEventState>(emptyState(channelId));
  const clock = serverClock(() => environment.now());
  const onServerTime = { ...environment, now: () => clock.now() };
  const mediaSync: MediaTimeSync = syncToMediaTime(onServerTime, show);
  let board = EMPTY_BOARD;
  let player: PlayerAdapter | null = null;
  let keyPlays: readonly KeyPlay[] = [];
  let watchReportedAt = 0;
  /** The open panel that was reported to the server on this connection. */
  let reportedPanelId: string | null = null;
  /** Ids of polls, quests and broadcasts whose impression was reported to the host app. */
  const impressions = new Set<string>();
  const tops = new Map<string, SentTop>();
  const frameListeners = new Set<(frame: ServerFrame) => void>();
  let rendererCount = 0;
  let boardTimer: ReturnType<typeof environment.setTimer> | undefined;
  let tickTimer: ReturnType<typeof environment.setTimer> | undefined;

  const connection: ChannelConnection = joinChannel({
    origin: session.origin,
    clientId: session.clientId,
    deviceId: session.deviceId,
    language: session.language,
    channelId,
    environment,
    getTicket: () => session.ticket(channelId),
    playing: () => player?.playing() === true,
    onState: setConnection,
    onFrame(frame) {
      safely(() => onFrame?.(frame));
      // The listener may have stopped watching.
      if (!connection.isClosed()) receive(frame);
    },
    onSent,
  });
  const reports = reportImpressions(session, channelId, () => store.getSnapshot().concurrents);
  const votes = createVotes(environment, (frame) => connection.send(frame));
  const panelData = loadPanelData(session, channelId, store, (collect) => {
    reports.allow(collect);
    reportPanel();
  });
  const { engagement, setPoll, setQuest } = panelData;
  const questions = createQuestions(session, channelId, requireViewer);
  tick();

  function set(changes: Partial<TifoEventState>): void {
    store.update((state) => ({ ...state, ...changes }));
  }

  function setConnection(state: ConnectionState, reason?: string): void {
    set({ connection: state, reason });
  }

  /** Handles frames in order. Broadcasts may wait for the video; everything else applies immediately. */
  function receive(frame: ServerFrame): void {
    switch (frame.type) {
      case "welcome":
        if (Number.isFinite(frame.now)) clock.reset(frame.now);
        set({ concurrents: frame.concurrents, rules: rulesAfter(store.getSnapshot().rules, frame) });
        votes.resend();
        reportedPanelId = null;
        reportPanel();
        panelData.onWelcome(frame.recovered);
        questions.onWelcome();
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
      case "question.updated":
        questions.apply(frame.question);
        break;
      case "questions.changed":
        questions.onHiddenChange();
        break;
      case "leaderboard.updated":
        tops.set(frame.leaderboard.leaderboardId, frame.leaderboard.top);
        break;
      case "vote.result":
        votes.settle(frame);
        break;
      case "stream.live":
      case "stream.offline":
        set({ live: frame.type === "stream.live" });
        break;
      // The viewer may see other panels than before.
      case "audience.changed":
      case "page.updated":
        panelData.onPageChanged();
        break;
      case "quest.updated":
        panelData.onQuestsChanged();
        break;
      default:
    }
    mediaSync.accept(frame);
    for (const listener of frameListeners) safely(() => listener(frame));
  }

  function show(frame: ServerFrame): void {
    setBoard(afterFrame(board, frame, moment()));
  }

  function moment(): Moment {
    // A hidden page renders nothing.
    const rendering = rendererCount > 0 && !environment.hidden();
    return { now: clock.now(), rendering, endsWithVideo: (id) => mediaSync.endsWithVideo(id) };
  }

  function setBoard(next: typeof board): void {
    if (next === board) return;
    // Forget the impressions of broadcasts that have ended.
    const kept = new Set(next.entries.map(({ overlay }) => overlay.broadcastId));
    for (const { overlay } of board.entries) if (!kept.has(overlay.broadcastId)) impressions.delete(overlay.broadcastId);
    board = next;
    store.update((state) => (state.overlays === board.shown ? state : { ...state, overlays: board.shown }));
    for (const { overlayId, broadcastId } of next.dropped) delegate.track("overlay.dropped", { overlayId, broadcastId });
    environment.clearTimer(boardTimer);
    const now = moment();
    const change = nextChange(board, now);
    if (change === undefined) return;
    boardTimer = environment.setTimer(() => setBoard(afterTime(board, moment())), Math.max(0, change - now.now) + 1);
  }

  /** Reports the open panel to the server, because quests count it. */
  function reportPanel(): void {
    const { openPanelId } = store.getSnapshot();
    if (openPanelId === null || openPanelId === reportedPanelId) return;
    if (connection.send({ type: "panel", panelId: openPanelId })) reportedPanelId = openPanelId;
  }

  /** Updates the media time every second, and reports to the server what is being watched every ten. */
  function tick(): void {
    const mediaTime = mediaSync.mediaTime();
    if (mediaTime !== store.getSnapshot().mediaTime) set({ mediaTime });
    if (mediaTime !== null && environment.now() - watchReportedAt >= WATCH_MS && safely(() => player?.playing()) === true) {
      watchReportedAt = environment.now();
      connection.send({ type: "watch", videoId: store.getSnapshot().playingClipId ?? channelId, mediaTime: Math.max(0, mediaTime) });
    }
    tickTimer = environment.setTimer(tick, MEDIA_TIME_MS);
  }

  async function requireViewer(panelId?: string): Promise<void> {
    const authenticated = await delegate.isAuthenticated();
    if (authenticated !== store.getSnapshot().authenticated) set({ authenticated });
    if (authenticated) return;
    delegate.notify((host) => host.onPanelEvent?.({ type: "loginRequested", panelId }));
    throw signInRequired(session.texts.getSnapshot().t);
  }

  function panelWith(holds: (panel: PanelInfo) => boolean): string {
    return store.getSnapshot().panels.find(holds)?.id ?? "";
  }

  return {
    channelId,
    questions,
    subscribe: store.subscribe,
    getSnapshot: store.getSnapshot,
    get keyPlays() {
      return keyPlays;
    },
    getPanels: () => store.getSnapshot().panels,
    getDefaultPanel: () => store.getSnapshot().panels[0] ?? null,

    openPanel(wanted: string | { kind: PanelKind }, focus: PanelFocus | null = null) {
      const panel = findPanel(store.getSnapshot().panels, wanted);
      if (!panel) return false;
      set({ openPanelId: panel.id, panelFocus: focus && { ...focus } });
      reportedPanelId = null;
      reportPanel();
      delegate.notify((host) => host.onPanelEvent?.({ type: "opened", panelId: panel.id, kind: panel.kind }));
      delegate.track("panel.open", { panelId: panel.id });
      reports.add({ kind: "panel.open", id: panel.id });
      return true;
    },
    closePanel() {
      const { panels, openPanelId } = store.getSnapshot();
      const panel = panels.find(({ id }) => id === openPanelId);
      set({ openPanelId: null, panelFocus: null });
      if (panel) delegate.notify((host) => host.onPanelEvent?.({ type: "closed", panelId: panel.id, kind: panel.kind }));
    },
    updateKeyPlays(plays) {
      keyPlays = plays;
      // A new array of the same panels makes components render again.
      set({ panels: [...store.getSnapshot().panels] });
    },

    setPlayer(next) {
      player = next;
      mediaSync.setPlayer(next);
      set({ mediaTime: mediaSync.mediaTime() });
    },
    async play() {
      await player?.play?.();
    },
    pause: () => player?.pause?.(),
    seek: (seconds) => player?.seek?.(seconds),
    async playClip(clip: Clip) {
      reports.add({ kind: "video.play", id: clip.videoId });
      // In a new tab the clip doesn't replace this event's video, and its end isn't reported.
      if (!delegate.has("playClip")) return openLink(clip.url);
      set({ playingClipId: clip.videoId });
      return delegate.call((host) => host.playClip?.(clip), undefined);
    },
    stopPlayingClip: () => set({ playingClipId: null }),
    replay: (broadcasts) => mediaSync.replay(broadcasts),
    replayRecording: (recording) =>
      loadRecording(session, channelId, recording, (broadcasts) => {
        if (!connection.isClosed()) mediaSync.replay(broadcasts);
      }),

    async answerPoll(pollId, answerId) {
      const panelId = panelWith((panel) => pollsOf(panel).includes(pollId));
      await requireViewer(panelId);
      // What the viewer was shown, and has agreed to pay.
      const { responseCost: cost, myAnswerId: before } = store.getSnapshot().polls[pollId] ?? {};
      const sent = { pollId, answerId, before, viewer: panelData.viewer() };
      try {
        await (votes.cast(pollId, answerId, cost) ?? engagement.answer(pollId, { answerId, channelId, cost }));
      } catch (error) {
        if (!(await panelData.wasCounted(sent, error))) throw error;
      }
      const poll = store.getSnapshot().polls[pollId];
      if (poll && sent.viewer === panelData.viewer()) setPoll({ ...poll, myAnswerId: answerId });
      delegate.notify((host) => host.onPanelEvent?.({ type: "answered", panelId, pollId, answerId }));
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
      delegate.notify((host) => host.onPanelEvent?.({ type: "claimed", panelId, questId, status }));
      delegate.track("quest.claim", { questId, status });
      return status;
    },
    trackImpression(impression) {
      const { kind, id, broadcastId } = impression;
      const key = broadcastId ?? id;
      if (kind !== "panel" && impressions.has(key)) return;
      impressions.add(key);
      reports.add({ kind: `${kind}.shown`, id, ...(broadcastId === undefined ? {} : { broadcastId }) });
      delegate.notify((host) => host.trackImpression?.(impression));
    },
    reportAction: (entry) => reports.add(entry),
    attachRenderer() {
      rendererCount++;
      return () => void rendererCount--;
    },
    overlayRendered(broadcastId) {
      setBoard(afterRender(board, broadcastId, moment()));
    },
    dismissOverlay(broadcastId) {
      setBoard(afterDismissal(board, broadcastId, moment()));
    },

    serverNow: () => clock.now(),
    overlayNow: (broadcastId) => mediaSync.timeOf(broadcastId) ?? clock.now(),
    followPoll: panelData.followPoll,
    send: (frame) => connection.send(frame),
    isReceiveOnly: () => connection.isReceiveOnly(),
    onFrame(listener) {
      frameListeners.add(listener);
      return () => frameListeners.delete(listener);
    },
    topOf: (leaderboardId) => tops.get(leaderboardId),
    isClosed: () => connection.isClosed(),
    async userDidChange() {
      votes.drop();
      connection.rejoin();
      await Promise.all([panelData.reload(), questions.userDidChange()]);
    },

    stop() {
      connection.leave();
      reports.stop();
      panelData.stop();
      questions.stop();
      mediaSync.stop();
      environment.clearTimer(boardTimer);
      environment.clearTimer(tickTimer);
      board = EMPTY_BOARD;
      set({ connection: "offline", reason: "No longer being watched.", overlays: board.shown });
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
    transitions: null,
    panels: [],
    openPanelId: null,
    panelFocus: null,
    overlays: [],
    polls: {},
    quests: {},
    rules: [],
    authenticated: false,
    mediaTime: null,
    playingClipId: null,
  };
}
