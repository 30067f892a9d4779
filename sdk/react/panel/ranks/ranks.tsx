import { useId, useMemo, useState, useSyncExternalStore } from "react";
import { createRanks, type OwnRank, type Rank, type Ranks, type RanksState } from "../../../core/ranks.ts";
import { useEventState, useSdkContext, useTexts } from "../../context.tsx";
import type { Loaded } from "../../use-loaded.ts";
import { Note, WhenLoaded } from "../parts.tsx";
import { key } from "../../../i18n/key.ts";

/** All texts of the panel. */
const TEXT = {
  top: key("Top of the leaderboard"),
  own: key("You and your neighbours"),
  rank: key("Rank"),
  name: key("Name"),
  points: key("Points"),
  you: key("You"),
  unnamed: key("Name not shown"),
  empty: key("Nobody has points yet. Be the first."),
  noPoints: key("You have no points yet."),
  signIn: key("Sign in to collect points."),
  hide: key("Hide my name from others"),
  failed: key("That couldn’t be saved. Try again."),
  place: key("You are number {rank, number} of {members, number}"),
  amount: key("{count, plural, one {# point} other {# points}}"),
};

/** How many stand on the podium, and have a medal. */
const PODIUM = 3;

/** The top of a leaderboard, and where this viewer is. */
export function Content({ leaderboardId }: { leaderboardId: string }) {
  const { event, session } = useSdkContext();
  const authenticated = useEventState((state) => state.authenticated);
  // Another viewer has another rank.
  const ranks = useMemo(() => createRanks(session, event, leaderboardId), [session, event, leaderboardId, authenticated]);
  const state = useSyncExternalStore(ranks.subscribe, ranks.getSnapshot, ranks.getSnapshot);
  return (
    <section className="tifo-card tifo-ranks">
      <WhenLoaded loaded={loadedOf(state, ranks)}>{(value) => <Board state={value} ranks={ranks} />}</WhenLoaded>
    </section>
  );
}

function loadedOf(state: RanksState, ranks: Ranks): Loaded<RanksState> {
  if (state.status === "ready") return { state: "loaded", value: state };
  return state.status === "loading" ? { state: "loading" } : { state: "failed", retry: () => void ranks.reload() };
}

function Board({ state: { top, own }, ranks }: { state: RanksState; ranks: Ranks }) {
  const { t } = useTexts();
  const ownId = own?.accountId ?? null;
  const place = own?.rank ?? null;
  // A hidden viewer's own row on top has no id.
  const isOnTop =
    place !== null && place < (top.at(-1)?.rank ?? 0) ? true : top.some(({ accountId }) => accountId !== null && accountId === ownId);
  return (
    <>
      {own === null ? <p className="tifo-small">{t(TEXT.signIn)}</p> : <OwnPlace own={own} />}
      {top.length === 0 ? <Note>{t(TEXT.empty)}</Note> : <Top ranks={top} ownId={ownId} />}
      {own !== null && place !== null && !isOnTop && <RankTable caption={t(TEXT.own)} ranks={withNeighbours(own)} ownId={ownId} />}
      {own !== null && <HideName own={own} ranks={ranks} />}
    </>
  );
}

function OwnPlace({ own: { rank, points, members } }: { own: OwnRank }) {
  const { t } = useTexts();
  if (rank === null) return <p className="tifo-small">{t(TEXT.noPoints)}</p>;
  return (
    <p className="tifo-own-rank">
      <strong>{t(TEXT.place, { rank, members })}</strong>
      <span>{t(TEXT.amount, { count: points })}</span>
    </p>
  );
}

function withNeighbours({ rank, accountId, name, points, before, after }: OwnRank): Rank[] {
  return rank === null ? [] : [...before, { rank, accountId, name, points }, ...after];
}

/** The first three stand on a podium. It is for the eye: the table has them too, and is what screen readers read. */
function Top({ ranks, ownId }: { ranks: readonly Rank[]; ownId: string | null }) {
  const { t } = useTexts();
  const onPodium = ranks.length >= PODIUM ? PODIUM : 0;
  return (
    <>
      {onPodium > 0 && <Podium ranks={ranks.slice(0, onPodium)} ownId={ownId} />}
      <RankTable caption={t(TEXT.top)} ranks={ranks} onPodium={onPodium} ownId={ownId} />
    </>
  );
}

function Podium({ ranks, ownId }: { ranks: readonly Rank[]; ownId: string | null }) {
  const { t, locale } = useTexts();
  return (
    <ol className="tifo-podium" aria-hidden="true">
      {ranks.map(({ rank, accountId, name, points }, index) => {
        const isOwn = accountId !== null && accountId === ownId;
        return (
          <li key={accountId ?? `row-${index}`} data-rank={rank} data-own={isOwn}>
            <span className="tifo-medal" data-rank={rank}>
              {rank.toLocaleString(locale)}
            </span>
            <span className="tifo-podium-name" data-unnamed={name === null}>
              <bdi>{name ?? t(TEXT.unnamed)}</bdi>
            </span>
            {isOwn && <span className="tifo-tag">{t(TEXT.you)}</span>}
            <b className="tifo-podium-step">{points.toLocaleString(locale)}</b>
          </li>
        );
      })}
    </ol>
  );
}

interface TableProps {
  caption: string;
  ranks: readonly Rank[];
  /** How many of the first are shown on a podium. */
  onPodium?: number;
  ownId: string | null;
}

function RankTable({ caption, ranks, onPodium = 0, ownId }: TableProps) {
  const { t } = useTexts();
  return (
    <table className="tifo-rank-table">
      <caption className="tifo-only-read">{caption}</caption>
      <thead className="tifo-only-read">
        <tr>
          <th scope="col">{t(TEXT.rank)}</th>
          <th scope="col">{t(TEXT.name)}</th>
          <th scope="col">{t(TEXT.points)}</th>
        </tr>
      </thead>
      {onPodium > 0 && <RankRows className="tifo-only-read" ranks={ranks.slice(0, onPodium)} ownId={ownId} />}
      <RankRows ranks={ranks.slice(onPodium)} ownId={ownId} />
    </table>
  );
}

function RankRows({ ranks, ownId, className }: { ranks: readonly Rank[]; ownId: string | null; className?: string }) {
  const { t, locale } = useTexts();
  return (
    <tbody className={className}>
      {ranks.map(({ rank, accountId, name, points }, index) => {
        const isOwn = accountId !== null && accountId === ownId;
        return (
          <tr key={accountId ?? `row-${index}`} aria-current={isOwn ? "true" : undefined}>
            <td>
              <span className="tifo-medal" data-rank={rank <= PODIUM ? rank : undefined}>
                {rank.toLocaleString(locale)}
              </span>
            </td>
            <td className="tifo-rank-name" data-unnamed={name === null}>
              {/* Names may be in any script. */}
              <bdi>{name ?? t(TEXT.unnamed)}</bdi>
              {isOwn && <span className="tifo-tag">{t(TEXT.you)}</span>}
            </td>
            <td className="tifo-rank-points">{points.toLocaleString(locale)}</td>
          </tr>
        );
      })}
    </tbody>
  );
}

function HideName({ own, ranks }: { own: OwnRank; ranks: Ranks }) {
  const { t } = useTexts();
  const [problem, setProblem] = useState("");
  const field = useId();

  async function change(hidden: boolean): Promise<void> {
    setProblem("");
    try {
      await ranks.setHidden(hidden);
    } catch {
      setProblem(t(TEXT.failed));
    }
  }

  return (
    <>
      <label className="tifo-check" htmlFor={field}>
        <input id={field} type="checkbox" checked={own.hidden} onChange={({ target }) => void change(target.checked)} />
        {t(TEXT.hide)}
      </label>
      <p className="tifo-problem" role="alert">
        {problem}
      </p>
    </>
  );
}
