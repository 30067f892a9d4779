import { ok, TifoProblem } from "../client/index.ts";
import type { PollState, QuestState, TifoEventState } from "../model/state.ts";
import { createEngagement, type Engagement, isResults, type PollResults, withResults } from "./engagement.ts";
import { findPanel, panelsOf, pollsOf, questsOf } from "./panels.ts";
import type { Session } from "./session.ts";
import type { Store } from "./store.ts";
import { restartableTask } from "./restartable-task.ts";

/** What every viewer hears at once is asked for within so many milliseconds, each at a moment of its own. */
const SPREAD_MS = 2_000;
/** What could not be had is asked for again after so many milliseconds or up to twice as many, and each time later. */
const RETRY_MS = 15_000;
const MOST_DOUBLINGS = 4;
/** Milliseconds within which a page that was loaded before the first connection is as good as one loaded after it. */
const FRESH_MS = 5_000;

/** The page's panels with their polls and quests, loaded and kept up to date in the event's state. */
export interface PanelData {
  readonly engagement: Engagement;
  /** A connection begins. `resumed`: all that its log held will follow, so that only what no log keeps may be old. */
  onWelcome(resumed: boolean): void;
  onPageChanged(): void;
  onQuestsChanged(): void;
  /** The data of `poll.updated`. */
  applyPollResults(data: Record<string, unknown>): void;
  change(changes: Partial<TifoEventState>): void;
  setPoll: (poll: PollState) => void;
  setQuest: (quest: QuestState) => void;
  loadQuests(questIds: string[]): Promise<void>;
  /** Another viewer is there: forgets what was the last one's and loads what is theirs. */
  reload(): Promise<void>;
  stop(): void;
}

/** Begins to load. `onPanels` is called whenever the page's panels are known anew. */
export function loadPanelData(session: Session, channelId: string, store: Store<TifoEventState>, onPanels: () => void): PanelData {
  const { client, delegate, environment } = session;
  const engagement = createEngagement(client);
  /** The last results of each poll that came over the connection: what a request answers may be older. */
  const results = new Map<string, PollResults>();
  const timers = new Map<() => void, ReturnType<typeof environment.setTimer>>();
  /** Milliseconds; null: never so far. */
  let loadedAt: number | null = null;
  let welcomes = 0;
  let failures = 0;
  /** Counts viewers: what was asked for on behalf of an earlier one is not shown to the next. */
  let viewer = 0;
  let stopped = false;

  const page = restartableTask(loadPage);
  const polls = restartableTask(loadPolls);
  const quests = restartableTask((isCurrent) => loadEach(store.getSnapshot().panels.flatMap(questsOf), isCurrent, loadQuest));
  const pageSoon = soon(() => void page.restart());
  const pollsSoon = soon(() => void polls.restart());
  const questsSoon = soon(() => void quests.run());
  const retrySoon = soon(
    () => void page.run(),
    () => RETRY_MS * 2 ** Math.min(failures++, MOST_DOUBLINGS) * (1 + environment.random()),
  );
  void page.run();

  /** A function that does `work` once after a while, however often it is called meanwhile. */
  function soon(work: () => void, wait = () => environment.random() * SPREAD_MS): () => void {
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
    const claim = quest.claim ?? store.getSnapshot().quests[quest.questId]?.claim;
    change({ quests: { ...store.getSnapshot().quests, [quest.questId]: { ...quest, claim } } });
  }

  /** What can't be loaded is left as it was; the channel goes on without. */
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
      change({ title, theme, panels, authenticated, openPanelId: stays ? openPanelId : first });
      onPanels();
      await Promise.all([polls.restart(), quests.restart()]);
      if (failures === before) failures = 0;
    } catch (error) {
      failed("the event's page", error);
    }
  }

  function loadPolls(isCurrent: () => boolean): Promise<void> {
    return loadEach(store.getSnapshot().panels.flatMap(pollsOf), isCurrent, loadPoll);
  }

  /** One that is refused, or gone, takes nothing from the others. */
  async function loadEach(
    ids: string[],
    isCurrent: () => boolean,
    load: (id: string, isCurrent: () => boolean) => Promise<void>,
  ): Promise<void> {
    await Promise.all(
      ids.map((id) => load(id, isCurrent).catch((error: unknown) => isCurrent() && failed(`what the panels show (${id})`, error))),
    );
  }

  async function loadPoll(pollId: string, isCurrent: () => boolean): Promise<void> {
    results.delete(pollId);
    const poll = await engagement.poll(pollId).catch(goneAsNull);
    if (!isCurrent()) return;
    const { [pollId]: known, ...others } = store.getSnapshot().polls;
    if (!poll) return known && change({ polls: others });
    const newer = results.get(pollId);
    setPoll({ ...(newer ? withResults(poll, newer) : poll), myAnswerId: known?.myAnswerId });
  }

  async function loadQuest(questId: string, isCurrent: () => boolean): Promise<void> {
    const quest = await engagement.quest(questId).catch(goneAsNull);
    if (!isCurrent()) return;
    const { [questId]: known, ...others } = store.getSnapshot().quests;
    if (quest) setQuest(quest);
    else if (known) change({ quests: others });
  }

  /** Asked for again by itself only where another answer may come. */
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
    onWelcome(resumed) {
      const first = welcomes++ === 0;
      if (loadedAt !== null) {
        if (!first || environment.now() - loadedAt > FRESH_MS) (resumed ? pollsSoon : pageSoon)();
      } else if (!page.isRunning()) void page.run();
    },
    onPageChanged: pageSoon,
    onQuestsChanged: questsSoon,
    applyPollResults(data) {
      if (!isResults(data)) return;
      results.set(data.pollId, data);
      const poll = store.getSnapshot().polls[data.pollId];
      if (poll) setPoll(withResults(poll, data));
    },
    loadQuests(questIds) {
      const asked = viewer;
      return loadEach(questIds, () => asked === viewer, loadQuest);
    },
    async reload() {
      viewer++;
      quests.cancel();
      const { polls: before } = store.getSnapshot();
      change({
        quests: {},
        polls: Object.fromEntries(Object.entries(before).map(([id, poll]) => [id, { ...poll, myAnswerId: undefined }])),
      });
      // The page is loaded here, and not once more for the new connection's welcome.
      welcomes = 0;
      await page.restart();
    },
    stop() {
      stopped = true;
      for (const timer of timers.values()) environment.clearTimer(timer);
    },
  };
}

/** What is gone is not shown any more. */
function goneAsNull(error: unknown): null {
  if (error instanceof TifoProblem && error.status === 404) return null;
  throw error;
}
