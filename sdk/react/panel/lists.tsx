import { handleCallToAction, playVideo } from "../../core/calls-to-action.ts";
import { upcomingEvents } from "../../core/lists/calendar.ts";
import { listChannels } from "../../core/lists/channels.ts";
import { videosOfPlaylist } from "../../core/lists/playlists.ts";
import type { KeyPlay } from "../../model/event-interface.ts";
import type { PanelRenderer } from "../../model/state.ts";
import { useEventState, useSdkContext, useTexts } from "../context.tsx";
import { useLoaded } from "../use-loaded.ts";
import { duration } from "./duration.ts";
import { useFocusedCard } from "./focused-card.ts";
import { MatchFacts, useMatchFacts } from "./match-facts.tsx";
import { Time, Note, ExternalLink, SiteImage, WhenLoaded } from "./parts.tsx";

type Renderer = Extract<PanelRenderer, { panel_type: "schedule" | "channel_select" | "playlist" | "peopleGroups" }>;

/** The panels that list something. */
export function Content({ renderer }: { renderer: Renderer }) {
  switch (renderer.panel_type) {
    case "schedule":
      return <Schedule renderer={renderer} />;
    case "channel_select":
      return <ChannelSelect renderer={renderer} />;
    case "playlist":
      return <Playlist renderer={renderer} />;
    case "peopleGroups":
      return <People renderer={renderer} />;
  }
}

type RendererOf<T extends PanelRenderer["panel_type"]> = Extract<PanelRenderer, { panel_type: T }>;

interface Entry {
  id: string;
  title: string;
  start: number | undefined;
  end: number | undefined;
  where: string | undefined;
}

/** Upcoming events: the calendar's next 30 days, or the panel's own list. */
function Schedule({ renderer }: { renderer: RendererOf<"schedule"> }) {
  const { t, locale } = useTexts();
  const { session } = useSdkContext();
  const { schedule_type_renderer: source, group_by_date } = renderer;
  const loaded = useLoaded(JSON.stringify(source), async (): Promise<Entry[]> => {
    if (source.schedule_type === "manual")
      return source.manual_events.map(({ array_id, name, start_time, end_time, location }) => ({
        id: array_id,
        title: name,
        start: start_time,
        end: end_time,
        where: location,
      }));
    const events = await upcomingEvents(session, source.source_channels);
    return events.map(({ _id, titleRaw, date }) => ({
      id: _id,
      title: titleRaw,
      start: date.startTimestamp,
      end: date.useEndTime ? (date.endTimestamp ?? undefined) : undefined,
      where: undefined,
    }));
  });
  return (
    <WhenLoaded loaded={loaded}>
      {(entries) =>
        entries.length === 0 ? (
          <Note>{t("No upcoming events.")}</Note>
        ) : (
          byDay(entries, group_by_date ? locale : null).map(([day, ofDay]) => (
            <section key={day}>
              {day !== "" && <h3>{day}</h3>}
              <ul className="tifo-list">
                {ofDay.map((entry) => (
                  <li key={entry.id} className="tifo-row">
                    <strong>
                      <bdi>{entry.title}</bdi>
                    </strong>
                    <span className="tifo-small">
                      {entry.start !== undefined && <Time at={entry.start} style={day === "" ? "full" : "time"} />}
                      {entry.end !== undefined && (
                        <>
                          {" – "}
                          <Time at={entry.end} style="time" />
                        </>
                      )}
                      {entry.where !== undefined && (
                        <>
                          {" · "}
                          <bdi>{entry.where}</bdi>
                        </>
                      )}
                    </span>
                  </li>
                ))}
              </ul>
            </section>
          ))
        )
      }
    </WhenLoaded>
  );
}

/** Grouped in order of their first entries, or as one group without a name. */
function byDay(entries: Entry[], locale: string | null): [day: string, entries: Entry[]][] {
  const days = new Map<string, Entry[]>();
  for (const entry of entries) {
    const day = locale === null ? "" : dayOf(entry.start ?? entry.end ?? 0, locale);
    const ofDay = days.get(day);
    if (ofDay) ofDay.push(entry);
    else days.set(day, [entry]);
  }
  return [...days];
}

function dayOf(at: number, locale: string): string {
  return new Intl.DateTimeFormat(locale, { dateStyle: "full" }).format(at);
}

/** The site's channels, as a list or a grid. Choosing one notifies the host app. */
function ChannelSelect({ renderer }: { renderer: RendererOf<"channel_select"> }) {
  const { t } = useTexts();
  const { session, event } = useSdkContext();
  const { kind, pages, view } = renderer.behavior;
  const loaded = useLoaded(JSON.stringify(renderer.behavior), () => listChannels(session, kind === "automatic" ? null : pages));
  return (
    <WhenLoaded loaded={loaded}>
      {(channels) =>
        channels.length === 0 ? (
          <Note>{t("No channels yet.")}</Note>
        ) : (
          <ul className="tifo-list" data-view={view}>
            {channels.map(({ _id, data }) => (
              <li key={_id}>
                <button
                  type="button"
                  className="tifo-row"
                  aria-current={_id === event.channelId}
                  onClick={({ currentTarget }) =>
                    void handleCallToAction({ type: "go_to_channel", data: { channelId: _id } }, currentTarget, event, session)
                  }
                >
                  <bdi>{data.name}</bdi>
                </button>
              </li>
            ))}
          </ul>
        )
      }
    </WhenLoaded>
  );
}

/** The playlist's videos, or the host app's key plays if it has provided some. */
function Playlist({ renderer }: { renderer: RendererOf<"playlist"> }) {
  const { t } = useTexts();
  const { session, event } = useSdkContext();
  // New key plays are announced by a new array of panels.
  useEventState(({ panels }) => panels);
  const { keyPlays } = event;
  const id = renderer.playlist_id;
  const loaded = useLoaded(id, () => videosOfPlaylist(session, id));
  if (keyPlays.length > 0) return <KeyPlays plays={keyPlays} />;
  return (
    <WhenLoaded loaded={loaded}>
      {(videos) =>
        videos.length === 0 ? (
          <Note>{t("No videos yet.")}</Note>
        ) : (
          <ul className="tifo-list">
            {videos.map((video) => (
              <li key={video._id}>
                <button type="button" className="tifo-row tifo-video" onClick={() => void playVideo(video, event, session)}>
                  <SiteImage src={video.thumbnail} />
                  <bdi>{video.title}</bdi>
                  {video.durationSeconds > 0 && <span className="tifo-small">{duration(video.durationSeconds)}</span>}
                </button>
              </li>
            ))}
          </ul>
        )
      }
    </WhenLoaded>
  );
}

function KeyPlays({ plays }: { plays: readonly KeyPlay[] }) {
  const { t } = useTexts();
  const { event, session } = useSdkContext();
  return (
    <>
      <ul className="tifo-list">
        {plays.map((play) => (
          <li key={play.id}>
            <button
              type="button"
              className="tifo-row tifo-video"
              onClick={() => (play.clip ? void event.playClip(play.clip) : event.seek(play.time))}
            >
              <SiteImage src={play.thumbnailUrl} />
              <bdi>{play.title}</bdi>
              <span className="tifo-small">{duration(play.time)}</span>
            </button>
          </li>
        ))}
      </ul>
      <button
        type="button"
        className="tifo-button"
        onClick={() => session.delegate.notify((host) => host.userRequestedNewKeyPlaysData?.(event.channelId))}
      >
        {t("Newer plays")}
      </button>
    </>
  );
}

/** The panel's people and groups, then the match facts that the site has of the event. */
function People({ renderer }: { renderer: RendererOf<"peopleGroups"> }) {
  const { people, groups } = renderer;
  const { t } = useTexts();
  const facts = useMatchFacts();
  const isEmpty = people.length + groups.length + facts.entities.length + facts.plays.length === 0;
  return (
    <>
      {isEmpty ? <Note>{t("Nobody is listed yet.")}</Note> : <Listed renderer={renderer} />}
      <MatchFacts facts={facts} listed={new Set([...people, ...groups].map(({ id }) => id))} />
    </>
  );
}

function Listed({ renderer: { people, groups } }: { renderer: RendererOf<"peopleGroups"> }) {
  return (
    <ul className="tifo-list">
      {groups.map((group) => (
        <GroupCard key={`group ${group.id}`} group={group} />
      ))}
      {people.map((person) => (
        <PersonCard key={`person ${person.id}`} person={person} />
      ))}
    </ul>
  );
}

function GroupCard({ group }: { group: RendererOf<"peopleGroups">["groups"][number] }) {
  const { id, group_name, group_bio, group_banner_url, group_links } = group;
  const card = useFocusedCard((focus) => focus.kind === "group" && focus.id === id);
  return (
    <li className="tifo-card" {...card}>
      <SiteImage className="tifo-banner" src={group_banner_url} />
      <h3>
        <bdi>{group_name}</bdi>
      </h3>
      {group_bio !== undefined && <p dir="auto">{group_bio}</p>}
      <Links links={group_links} />
    </li>
  );
}

function PersonCard({ person }: { person: RendererOf<"peopleGroups">["people"][number] }) {
  const { id, person_name, person_title, person_bio, person_image_url, person_links } = person;
  const card = useFocusedCard((focus) => focus.kind === "person" && focus.id === id);
  return (
    <li className="tifo-card tifo-person" {...card}>
      <SiteImage src={person_image_url} />
      <h3>
        <bdi>{person_name}</bdi>
      </h3>
      {person_title !== undefined && (
        <p className="tifo-small">
          <bdi>{person_title}</bdi>
        </p>
      )}
      {person_bio !== undefined && <p dir="auto">{person_bio}</p>}
      <Links links={person_links} />
    </li>
  );
}

function Links({ links }: { links: { link_text: string; link_url: string }[] }) {
  return links.map(({ link_text, link_url }) => (
    <ExternalLink key={link_url} href={link_url}>
      <bdi>{link_text}</bdi>
    </ExternalLink>
  ));
}
