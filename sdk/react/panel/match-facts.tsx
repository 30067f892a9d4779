import { useEffect, useRef, useState } from "react";
import { ok } from "../../client/index.ts";
import type { components } from "../../generated/rest.d.ts";
import { useSdkContext, useTexts } from "../context.tsx";
import { duration, SiteImage } from "./parts.tsx";

type Entity = components["schemas"]["StatEntity"];
type Play = components["schemas"]["KeyPlay"];

interface Facts {
  entities: Entity[];
  plays: Play[];
}

/** While the panel is open, it asks for newer facts this often. */
const REFRESH_MS = 20_000;

/** The players, teams and key plays that data providers have reported for the event; nothing if there are none. */
export function MatchFacts() {
  const { event } = useSdkContext();
  const { t } = useTexts();
  const { entities, plays } = useFacts();
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
                  <span>{title}</span>
                  <span className="tifo-small">{duration(mediaTime ?? 0)}</span>
                </button>
              </li>
            ))}
          </ul>
        </section>
      )}
      {teams.map((team) => (
        <section key={team ?? ""} aria-label={team ?? t("Stats")}>
          <h3>{team ?? t("Stats")}</h3>
          <ul className="tifo-list">
            {entities
              .filter((entity) => entity.team === team)
              .map((entity) => (
                <li key={entity._id} className="tifo-card tifo-person">
                  <SiteImage src={entity.image} />
                  <h4>{entity.name === "" ? entity.externalId : entity.name}</h4>
                  <FactList facts={entity.facts} />
                </li>
              ))}
          </ul>
        </section>
      ))}
    </>
  );
}

function FactList({ facts }: { facts: Entity["facts"] }) {
  return (
    <dl className="tifo-small tifo-facts">
      {Object.entries(facts).map(([name, { value }]) => (
        <div key={name}>
          <dt>{wordsOf(name)}</dt>
          <dd>{typeof value === "boolean" ? (value ? "✓" : "–") : value}</dd>
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

/** The event's facts, read again while they are shown. A failed request keeps what is shown. */
function useFacts(): Facts {
  const { session, event } = useSdkContext();
  const [facts, setFacts] = useState<Facts>({ entities: [], plays: [] });
  const { channelId } = event;
  const load = useRef(async (): Promise<Facts> => ({ entities: [], plays: [] }));
  load.current = async () => {
    const params = { path: { channelId }, query: { limit: 200 } };
    const [entities, plays] = await Promise.all([
      ok(session.client.api.GET("/stats/v1/channels/{channelId}/entities", { params })),
      ok(session.client.api.GET("/stats/v1/channels/{channelId}/key-plays", { params })),
    ]);
    return { entities: entities.results, plays: plays.results };
  };
  useEffect(() => {
    let current = true;
    const refresh = () =>
      load.current().then(
        (found) => current && setFacts(found),
        () => undefined,
      );
    void refresh();
    const timer = setInterval(() => void refresh(), REFRESH_MS);
    return () => {
      current = false;
      clearInterval(timer);
    };
  }, [channelId]);
  return facts;
}
