import { ok, TifoProblem } from "../client/index.ts";
import type { PollState, QuestState, TifoEventState } from "../model/state.ts";
import { createEngagement, type Engagement, isResults, type LoadedPoll, type PollResults, withResults } from "./engagement.ts";
import { findPanel, panelsOf, pollsOf, questsOf } from "./panels.ts";
import type { Session } from "./session.ts";
import type { Store } from "./store.ts";
import { restartableTask } from "./restartable-task.ts";

/** After a frame that reaches all viewers at once, each reloads after a random delay of up to this many milliseconds. */
const SPREAD_MS = 2_000;
/** Milliseconds per viewer over which the viewers of an overlay load its poll. */
const SPREAD_PER_VIEWER_MS = 1;
/** Polls of overlays that are kept up to date. */
const MAX_FOLLOWED = 20;
/** A failed load is retried after this many milliseconds to twice as many, with exponential backoff. */
const RETRY_MS = 15_000;
const MAX_DOUBLINGS = 4;
/** A page that was loaded at most this many milliseconds before the first connection needn't be loaded again. */
const FRESH_MS = 5_000;

/** Loads the page's panels with their polls and quests, and keeps them up to date in the event's state. */
export interface PanelData {
  readonly engagement: Engagement;
  /** A connection starts. `recovered`: all missed frames will follow, so only data that isn't in the log may be stale. */
  onWelcome(recovered: boolean): void;
  onPageChanged(): void;
  onQuestsChanged(): void;
  /** The data of `poll.updated`. */
  applyPollResults(data: Record<string, unknown>): void;
  change(changes: Partial<TifoEventState>): void;
  setPoll: (poll: PollState) => void;
  setQuest: (quest: QuestState) => void;
  loadQuests(questIds: string[]): Promise<void>;
  /** The current viewer; another number after each change of the viewer. */
  viewer(): number;
  /**
   * After an answer failed: shows the poll as it is now, or finds out whether the answer was counted although its result was lost, which takes
   * three seconds at most.
   */
  wasCounted(answer: SentAnswer, error: unknown): Promise<boolean>;
  /** Loads a poll that no panel contains, and keeps it up to date. Safe to repeat. */
  readonly followPoll: (pollId: string) => void;
  /** The viewer has changed: discards the data of the previous one and loads the new one's. */
  reload(): Promise<void>;
  stop(): void;
}

/** An answer to a poll, and what the viewer had answered before. */
interface SentAnswer {
  pollId: string;
  answerId: string;
  before: string | undefined;
  viewer: number;
}

/** Codes of failed answers to a poll that isn't as it is shown: it costs something else by now, or was answered elsewhere. */
const OUTDATED = new Set(["conflict", "already_answered"]);
const CHECK_MS = 3_000;

/** Starts loading. `onPage` is called whenever the page has been loaded, with whether the site collects impressions. */
export function loadPanelData(
  session: Session,
  channelId: string,
  store: Store<TifoEventState>,
  onPage: (collect: boolean) => void,
): PanelData {
  const { client, delegate, environment } = session;
  const engagement = createEngagement(client);
  /** The latest results of each poll from the connection: a response may be older. */
  const results = new Map<string, PollResults>();
  /** Polls that overlays show. */
  const followed = new Set<string>();
  const timers = new Map<() => void, ReturnType<typeof environment.setTimer>>();
  /** Milliseconds; null if not loaded yet. */
  let loadedAt: number | null = null;
  let welcomes = 0;
  let failures = 0;
  /** Incremented when the viewer changes, so that data loaded for one viewer isn't shown to the next. */
  let viewer = 0;
  let stopped = false;

  const page = restartableTask(loadPage);
  const polls = restartableTask((isCurrent) => loadPolls([...store.getSnapshot().panels.flatMap(pollsOf), ...followed], isCurrent));
  const quests = restartableTask((isCurrent) => loadQuests(store.getSnapshot().panels.flatMap(questsOf), isCurrent));
  const reloadPageSoon = debounced(() => void page.restart());
  const reloadPollsSoon = debounced(() => void polls.restart());
  const reloadQuestsSoon = debounced(() => void quests.run());
  const retrySoon = debounced(
    () => void page.run(),
    () => RETRY_MS * 2 ** Math.min(failures++, MAX_DOUBLINGS) * (1 + environment.random()),
  );
  void page.run();

  /** Returns a function that runs `work` once after a delay, however often it is called in the meantime. */
  function debounced(work: () => void, wait = () => environment.random() * SPREAD_MS): () => void {
    const due = () => {
      timers.delete(work);
      work();
    };
    return () => {
      if (!stopped && !timers.has(work)) timers.set(work, environment.setTimer(due, wait()));
    };
  }

  function change(changes: Partial<TifoEventState>): void {
    if (!stopped) store.update((state) => ({ ...state, ...changes }));
  }

  function setPoll(poll: PollState): void {
    change({ polls: { ...store.getSnapshot().polls, [poll.pollId]: poll } });
  }

  function setQuest(quest: QuestState): void {
    change({ quests: { ...store.getSnapshot().quests, [quest.questId]: quest } });
  }

  /** If loading fails, the previous data stays; the channel isn't affected. */
  async function loadPage(isCurrent: () => boolean): Promise<void> {
    const before = failures;
    try {
      const [configuration, authenticated] = await Promise.all([
        ok(client.api.GET("/page/v2/configuration/{pageId}", { params: { path: { pageId: channelId } } })),
        delegate.isAuthenticated(),
      ]);
      if (stopped || !isCurrent()) return;
      const panels = panelsOf(configuration);
      const { openPanelId } = store.getSnapshot();
      const first = loadedAt === null ? (panels[0]?.id ?? null) : null;
      const stays = openPanelId !== null && findPanel(panels, openPanelId) !== undefined;
      loadedAt = environment.now();
      const { title, theme } = { title: configuration.page.name, theme: configuration.theme ?? null };
      const { transitions = null, localization = null } = configuration.site;
      session.texts.followSite(localization);
      change({ title, theme, transitions, panels, authenticated, openPanelId: stays ? openPanelId : first });
      onPage(configuration.insights.collect);
      await Promise.all([polls.restart(), quests.restart()]);
      if (failures === before) failures = 0;
    } catch (error) {
      failed("the event's page", error);
    }
  }

  async function loadPolls(pollIds: string[], isCurrent: () => boolean): Promise<void> {
    const ids = [...new Set(pollIds)];
    for (const id of ids) results.delete(id);
    try {
      const loaded = await engagement.polls(ids);
      if (!isCurrent()) return;
      const { polls: known } = store.getSnapshot();
      const current = [...loaded].flatMap(([id, poll]) => newest(poll, known[id], results.get(id)) ?? []);
      change({ polls: { ...without(known, ids), ...Object.fromEntries(current.map((poll) => [poll.pollId, poll])) } });
      if ([...loaded.values()].includes(null)) throw new TifoProblem({ status: 503, code: "unavailable", message: "Not all were counted" });
    } catch (error) {
      if (isCurrent()) failed("the event's polls", error);
    }
  }

  async function loadQuests(questIds: string[], isCurrent: () => boolean): Promise<void> {
    const ids = [...new Set(questIds)];
    try {
      const loaded = await engagement.quests(ids);
      if (!isCurrent()) return;
      const { quests: known } = store.getSnapshot();
      const current = [...loaded.values()].map((quest) => ({ ...quest, claim: quest.claim ?? known[quest.questId]?.claim }));
      change({ quests: { ...without(known, ids), ...Object.fromEntries(current.map((quest) => [quest.questId, quest])) } });
    } catch (error) {
      if (isCurrent()) failed("the event's quests", error);
    }
  }

  /** Retries only if another attempt could succeed. */
  function failed(what: string, error: unknown): void {
    if (stopped) return;
    console.warn(`Tifo: ${what} could not be loaded`, error);
    if (!(error instanceof TifoProblem) || error.status === 0 || error.status === 429 || error.status >= 500) retrySoon();
  }

  return {
    engagement,
    change,
    setPoll,
    setQuest,
    onWelcome(recovered) {
      const first = welcomes++ === 0;
      if (loadedAt !== null) {
        if (!first || environment.now() - loadedAt > FRESH_MS) (recovered ? reloadPollsSoon : reloadPageSoon)();
      } else if (!page.isRunning()) void page.run();
    },
    onPageChanged: reloadPageSoon,
    onQuestsChanged: reloadQuestsSoon,
    applyPollResults(data) {
      if (!isResults(data)) return;
      results.set(data.pollId, data);
      const poll = store.getSnapshot().polls[data.pollId];
      if (poll) setPoll(withResults(poll, data));
    },
    loadQuests(questIds) {
      const requestedFor = viewer;
      return loadQuests(questIds, () => requestedFor === viewer);
    },
    followPoll(pollId) {
      if (followed.has(pollId)) return;
      const [oldest = ""] = followed;
      if (followed.size >= MAX_FOLLOWED) followed.delete(oldest);
      followed.add(pollId);
      if (store.getSnapshot().polls[pollId]) return;
      const requestedFor = viewer;
      const spread = Math.min(SPREAD_MS, store.getSnapshot().concurrents * SPREAD_PER_VIEWER_MS);
      const load = () => void loadPolls([pollId], () => requestedFor === viewer);
      debounced(load, () => environment.random() * spread)();
    },
    viewer: () => viewer,
    async wasCounted({ pollId, answerId, before, viewer: answeredBy }, error) {
      const code = error instanceof TifoProblem ? error.code : "";
      const isCurrent = () => viewer === answeredBy;
      if (OUTDATED.has(code)) void loadPolls([pollId], isCurrent);
      // An equal answer from before would prove nothing.
      if (code !== "network" || before === answerId) return false;
      const asked = engagement.ownAnswer(pollId).catch(() => undefined);
      const own = await Promise.race([asked, new Promise<undefined>((due) => environment.setTimer(() => due(undefined), CHECK_MS))]);
      return isCurrent() && own === answerId;
    },
    async reload() {
      viewer++;
      quests.cancel();
      const { polls: before } = store.getSnapshot();
      change({
        quests: {},
        polls: Object.fromEntries(Object.entries(before).map(([id, poll]) => [id, { ...poll, myAnswerId: undefined }])),
      });
      // The page is loaded here, so the new connection's welcome mustn't load it again.
      welcomes = 0;
      await page.restart();
    },
    stop() {
      stopped = true;
      for (const timer of timers.values()) environment.clearTimer(timer);
    },
  };
}

/** The poll as it was loaded, with what is known since: the results of a later frame, and the answer that the viewer has given here. */
function newest(loaded: LoadedPoll, known: PollState | undefined, results: PollResults | undefined): PollState | undefined {
  if (!loaded) return known;
  return { ...(results ? withResults(loaded, results) : loaded), myAnswerId: known?.myAnswerId ?? loaded.myAnswerId };
}

function without<T>(known: Readonly<Record<string, T>>, ids: string[]): Record<string, T> {
  return Object.fromEntries(Object.entries(known).filter(([id]) => !ids.includes(id)));
}
