import { type ChannelConnection, joinChannel, type PictureTime, pictureTime, type ServerFrame } from "../channel/index.ts";
import { ok } from "../client/index.ts";
import type { TrackedImpression } from "../model/event-delegate.ts";
import type { KeyPlay, TifoEventViewModel } from "../model/event-interface.ts";
import type { Clip, PlayerAdapter } from "../model/player.ts";
import type { ConnectionState, PanelInfo, PanelKind, QuestState, TifoEventState } from "../model/state.ts";
import { serverClock } from "./clock.ts";
import { createEngagement, isResults, type PollResults, signInFirst, withResults } from "./engagement.ts";
import { afterDismissal, afterFrame, afterTime, EMPTY_BOARD, nextEnd } from "./overlays.ts";
import { findPanel, panelsOf, pollsOf, questsOf } from "./panels.ts";
import type { Session } from "./session.ts";
import { createStore } from "./store.ts";
import { createVotes } from "./votes.ts";

const MEDIA_TIME_MS = 1_000;
/** How often the server hears what is being watched. */
const WATCH_MS = 10_000;

/** An event that is being watched, with the end of it. */
export interface WatchedEvent extends TifoEventViewModel {
  readonly keyPlays: readonly KeyPlay[];
  /** Something stands on the screen: told to the host app once. */
  shown(impression: TrackedImpression): void;
  /** Whether it was stopped, or the channel refused the viewer for good. */
  isOver(): boolean;
  /** Somebody signed in or out: joins the channel as them and loads what is theirs. */
  userDidChange(): Promise<void>;
  stop(): void;
}

/** Joins a channel, loads what its page shows and keeps both up to date. */
export function watchEvent(session: Session, channelId: string): WatchedEvent {
  const { client, delegate, environment } = session;
  const store = createStore<TifoEventState>(emptyState(channelId));
  const engagement = createEngagement(client);
  const clock = serverClock(() => environment.now());
  const inServerTime = { ...environment, now: () => clock.now() };
  const picture: PictureTime = pictureTime(inServerTime, show);
  let board = EMPTY_BOARD;
  let player: PlayerAdapter | null = null;
  let keyPlays: readonly KeyPlay[] = [];
  let watchedAt = 0;
  let stopped = false;
  let welcomed = false;
  let loaded = false;
  /** Counts viewers: what was asked for on behalf of an earlier one is not shown to the next. */
  let viewer = 0;
  /** The last results of each poll that came over the connection: what a request answers may be older. */
  const results = new Map<string, PollResults>();
  /** Ids of polls, quests and broadcasts that the host app knows to have been shown. */
  const seen = new Set<string>();
  let endTimer: ReturnType<typeof environment.setTimer> | undefined;
  let tickTimer: ReturnType<typeof environment.setTimer> | undefined;

  const connection: ChannelConnection = joinChannel({
    origin: session.origin,
    clientId: session.clientId,
    deviceId: session.deviceId,
    channelId,
    environment,
    getTicket: () => session.ticket(channelId),
    onState: setConnection,
    onFrame: receive,
  });
  const votes = createVotes(environment, (frame) => connection.send(frame));
  void load();
  tick();

  function set(changes: Partial<TifoEventState>): void {
    store.update((state) => ({ ...state, ...changes }));
  }

  function setConnection(state: ConnectionState, reason?: string): void {
    set({ connection: state, reason });
  }

  /** What came over the connection, in order. Broadcasts may wait for their picture; all else happens now. */
  function receive(frame: ServerFrame): void {
    if (frame.type === "overlay.show") clock.heard(frame.startsAt);
    switch (frame.type) {
      case "welcome":
        set({ concurrents: frame.concurrents });
        votes.resend();
        // What happened in between is not told, so the page may be another.
        if (welcomed && !frame.recovered) void load();
        welcomed = true;
        break;
      case "concurrents":
        set({ concurrents: frame.count });
        break;
      case "poll.updated":
        takeResults(frame.data);
        break;
      case "vote.result":
        votes.settle(frame);
        break;
      case "stream.live":
      case "stream.offline":
        set({ live: frame.type === "stream.live" });
        break;
      case "page.updated":
        void load();
        break;
      case "quest.updated":
        void loadQuests(Object.keys(store.getSnapshot().quests));
        break;
      default:
    }
    picture.take(frame);
  }

  function show(frame: ServerFrame): void {
    setBoard(afterFrame(board, frame, clock.now()));
  }

  function setBoard(next: typeof board): void {
    // What is over needs no remembering.
    for (const { broadcastId } of board.on) if (!next.on.some((one) => one.broadcastId === broadcastId)) seen.delete(broadcastId);
    board = next;
    store.update((state) => (state.overlays === board.shown ? state : { ...state, overlays: board.shown }));
    environment.clearTimer(endTimer);
    const end = nextEnd(board);
    if (end === undefined) return;
    endTimer = environment.setTimer(() => setBoard(afterTime(board, clock.now())), Math.max(0, end - clock.now()) + 1);
  }

  function takeResults(data: Record<string, unknown>): void {
    if (!isResults(data)) return;
    results.set(data.pollId, data);
    const poll = store.getSnapshot().polls[data.pollId];
    if (poll) setPoll(withResults(poll, data));
  }

  function setPoll(poll: TifoEventState["polls"][string]): void {
    store.update((state) => ({ ...state, polls: { ...state.polls, [poll.pollId]: poll } }));
  }

  function setQuest(quest: QuestState): void {
    const claim = quest.claim ?? store.getSnapshot().quests[quest.questId]?.claim;
    store.update((state) => ({ ...state, quests: { ...state.quests, [quest.questId]: { ...quest, claim } } }));
  }

  /** The page's panels with their polls and quests. What can't be loaded is left as it was; the channel goes on without. */
  async function load(): Promise<void> {
    const asked = viewer;
    try {
      const [configuration, authenticated] = await Promise.all([
        ok(client.api.GET("/page/v2/configuration/{pageId}", { params: { path: { pageId: channelId } } })),
        delegate.isAuthenticated(),
      ]);
      if (stopped || asked !== viewer) return;
      const panels = panelsOf(configuration);
      const { openPanelId } = store.getSnapshot();
      const first = loaded ? null : (panels[0]?.id ?? null);
      const stays = openPanelId !== null && findPanel(panels, openPanelId) !== undefined;
      loaded = true;
      set({
        title: configuration.page.name,
        theme: configuration.theme ?? null,
        panels,
        authenticated,
        openPanelId: stays ? openPanelId : first,
      });
      await Promise.all([...panels.flatMap(pollsOf).map(loadPoll), loadQuests(panels.flatMap(questsOf))]);
    } catch (error) {
      console.warn("Tifo: the event's page could not be loaded", error);
    }
  }

  async function loadPoll(pollId: string): Promise<void> {
    results.delete(pollId);
    const poll = await engagement.poll(pollId);
    const { myAnswerId } = store.getSnapshot().polls[pollId] ?? {};
    const newer = results.get(pollId);
    if (!stopped) setPoll({ ...(newer ? withResults(poll, newer) : poll), myAnswerId });
  }

  async function loadQuests(questIds: string[]): Promise<void> {
    const asked = viewer;
    const quests = await Promise.all(questIds.map((id) => engagement.quest(id)));
    if (stopped || asked !== viewer) return;
    for (const quest of quests) if (quest) setQuest(quest);
  }

  /** Once a second: the picture's time for who shows it, and every ten what is being watched for the server. */
  function tick(): void {
    const mediaTime = player?.mediaTime() ?? null;
    if (mediaTime !== store.getSnapshot().mediaTime) set({ mediaTime });
    if (mediaTime !== null && player?.playing() === true && environment.now() - watchedAt >= WATCH_MS) {
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
    throw signInFirst();
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
      connection.send({ type: "panel", panelId: panel.id });
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
      set({ mediaTime: next?.mediaTime() ?? null });
    },
    async play() {
      await player?.play?.();
    },
    pause: () => player?.pause?.(),
    seek: (seconds) => player?.seek?.(seconds),
    async playClip(clip: Clip) {
      set({ playingClipId: clip.videoId });
      if (delegate.has("playClip")) return delegate.ask((host) => host.playClip?.(clip), undefined);
      open(clip.url, "_blank", "noopener");
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
      await loadQuests([questId]);
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
    dismissOverlay(broadcastId) {
      setBoard(afterDismissal(board, broadcastId, clock.now()));
    },

    isOver: () => connection.isOver(),
    async userDidChange() {
      viewer++;
      votes.drop();
      const { polls } = store.getSnapshot();
      set({ quests: {}, polls: Object.fromEntries(Object.entries(polls).map(([id, poll]) => [id, { ...poll, myAnswerId: undefined }])) });
      // The page is loaded below, and not once more for the new connection's welcome.
      welcomed = false;
      connection.rejoin();
      await load();
    },

    stop() {
      stopped = true;
      connection.leave();
      picture.stop();
      environment.clearTimer(endTimer);
      environment.clearTimer(tickTimer);
      set({ connection: "offline", reason: "Not being watched any more.", overlays: [] });
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
    authenticated: false,
    mediaTime: null,
    playingClipId: null,
  };
}
