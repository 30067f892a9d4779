import { useMemo, useSyncExternalStore } from "react";
import { createMatchFacts, type MatchFactsState, type StatEntity } from "../../core/match-facts.ts";
import { useSdkContext, useTexts } from "../context.tsx";
import { duration } from "./duration.ts";
import { useFocusedCard } from "./focused-card.ts";
import { SiteImage } from "./parts.tsx";

/** The event's match facts, loaded and kept up to date while a component uses them. */
export function useMatchFacts(): MatchFactsState {
  const { session, event } = useSdkContext();
  const facts = useMemo(() => createMatchFacts(session, event), [session, event]);
  return useSyncExternalStore(facts.subscribe, facts.getSnapshot, facts.getSnapshot);
}

interface Props {
  facts: MatchFactsState;
  /** Ids of people and groups who have a card of their own above. */
  listed: ReadonlySet<string>;
}

/** The players, teams and key plays that data providers have reported for the event; nothing if there are none. */
export function MatchFacts({ facts: { entities, plays }, listed }: Props) {
  const { event } = useSdkContext();
  const { t } = useTexts();
  const teams = [...new Set(entities.map(({ team }) => team))];
  const moments = plays.filter(({ mediaTime }) => mediaTime !== null);
  return (
    <>
      {moments.length > 0 && (
        <section aria-label={t("Key plays")}>
          <h3>{t("Key plays")}</h3>
          <ul className="tifo-list">
            {moments.map(({ _id, title, mediaTime }) => (
              <li key={_id}>
                <button type="button" className="tifo-row" onClick={() => event.seek(mediaTime ?? 0)}>
                  <bdi>{title}</bdi>
                  <span className="tifo-small">{duration(mediaTime ?? 0)}</span>
                </button>
              </li>
            ))}
          </ul>
        </section>
      )}
      {teams.map((team) => (
        <section key={team ?? ""} aria-label={team ?? t("Stats")}>
          <h3>
            <bdi>{team ?? t("Stats")}</bdi>
          </h3>
          <ul className="tifo-list">
            {entities
              .filter((entity) => entity.team === team)
              .map((entity) => (
                <EntityCard key={entity._id} entity={entity} listed={listed} />
              ))}
          </ul>
        </section>
      ))}
    </>
  );
}

/** `listed`: ids of people and groups who have a card of their own above, which is the one to focus. */
function EntityCard({ entity, listed }: { entity: StatEntity; listed: ReadonlySet<string> }) {
  const { _id, externalId, name, image, facts } = entity;
  const card = useFocusedCard(({ kind, id }) => (id === externalId || id === _id) && (kind === "player" || !listed.has(id)));
  return (
    <li className="tifo-card tifo-person" {...card}>
      <SiteImage src={image} />
      <h4>
        <bdi>{name === "" ? externalId : name}</bdi>
      </h4>
      <FactList facts={facts} />
    </li>
  );
}

function FactList({ facts }: { facts: StatEntity["facts"] }) {
  return (
    <dl className="tifo-small tifo-facts">
      {Object.entries(facts).map(([name, { value }]) => (
        <div key={name}>
          <dt>
            <bdi>{wordsOf(name)}</bdi>
          </dt>
          <dd>
            <bdi>{typeof value === "boolean" ? (value ? "✓" : "–") : value}</bdi>
          </dd>
        </div>
      ))}
    </dl>
  );
}

/** "shotsOnTarget" and "shots_on_target" as words. */
function wordsOf(name: string): string {
  return name
    .replace(/_/g, " ")
    .replace(/([a-z])([A-Z])/g, "$1 $2")
    .toLowerCase();
}
