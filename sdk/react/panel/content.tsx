import { webAddress } from "../../core/web-address.ts";
import type { PanelInfo, PanelRenderer } from "../../model/state.ts";
import { ChatPanel, ListPanel, QuestionsPanel, RanksPanel, ShopPanel } from "../lazy-panel.tsx";
import { Note, ExternalLink, SiteImage } from "./parts.tsx";
import { Polls } from "./polls.tsx";
import { Quests } from "./quests.tsx";
import { useTexts } from "../context.tsx";

/** The contents of a panel, by its type. */
export function PanelContent({ panel }: { panel: PanelInfo }) {
  const { t } = useTexts();
  const { renderer } = panel;
  switch (renderer.panel_type) {
    case "quick_pick":
    case "multiple_choice":
      return <Polls pollIds={renderer.questions.map(({ poll_id }) => poll_id)} />;
    case "question_answer":
      return <QuestionsPanel renderer={renderer} />;
    case "leaderboard_achievement":
    case "achievement_leaderboard":
      return <RanksAndQuests renderer={renderer} />;
    case "quests":
      return <Quests questIds={renderer.quests.map(({ quest_id }) => quest_id)} loginText={renderer.login_button_text} />;
    case "schedule":
    case "channel_select":
    case "playlist":
    case "peopleGroups":
      return <ListPanel renderer={renderer} />;
    case "iframe":
      return <Embedded src={sourceOf(renderer.iframe_tag)} title={renderer.panel_name} />;
    case "twitch_chat":
      return <Embedded src={twitchChat(renderer.channel)} title={renderer.panel_name} />;
    case "image":
    case "imagev2":
      return <LinkedImage src={renderer.image_url} name={renderer.panel_name} href={renderer.url} />;
    case "shopify":
    case "donations":
      return <ShopPanel panelId={panel.id} renderer={renderer} />;
    case "pubgMatch":
      return renderer.url === undefined ? (
        <Note>{t("The match has no page yet.")}</Note>
      ) : (
        <LinkOut href={renderer.url}>{t("Open the match")}</LinkOut>
      );
    case "social":
      return <Social sources={renderer.sources} />;
    case "chat":
      return <ChatPanel renderer={renderer} />;
  }
}

type AchievementRenderer = Extract<PanelRenderer, { panel_type: "leaderboard_achievement" | "achievement_leaderboard" }>;

/** A panel may have ranks, quests or both. */
function RanksAndQuests({ renderer: { leaderboard_id, quests, login_button_text } }: { renderer: AchievementRenderer }) {
  return (
    <>
      {leaderboard_id !== undefined && <RanksPanel leaderboardId={leaderboard_id} />}
      {(leaderboard_id === undefined || quests.length > 0) && (
        <Quests questIds={quests.map(({ quest_id }) => quest_id)} loginText={login_button_text} />
      )}
    </>
  );
}

/** A document of another site. It may run scripts in its own origin, but can't navigate the embedding page. */
function Embedded({ src, title }: { src: string | undefined; title: string }) {
  const { t } = useTexts();
  if (src === undefined) return <Note>{t("Nothing to show.")}</Note>;
  return (
    <iframe
      className="tifo-embedded"
      src={src}
      title={title}
      sandbox="allow-scripts allow-same-origin allow-forms allow-popups"
      loading="lazy"
    />
  );
}

/** The server keeps only the https source of the tag. */
function sourceOf(tag: string): string | undefined {
  const src = new DOMParser().parseFromString(tag, "text/html").querySelector("iframe")?.src;
  return src?.startsWith("https://") ? src : undefined;
}

function twitchChat(channel: string): string {
  return `https://www.twitch.tv/embed/${encodeURIComponent(channel)}/chat?parent=${encodeURIComponent(location.hostname)}`;
}

function LinkedImage({ src, name, href }: { src: string; name: string; href: string | undefined }) {
  const picture = <SiteImage className="tifo-picture" src={src} alt={name} />;
  return href === undefined ? picture : <ExternalLink href={href}>{picture}</ExternalLink>;
}

function LinkOut({ href, children }: { href: string; children: string }) {
  return (
    <div className="tifo-note">
      <ExternalLink href={href} isButton>
        {children}
      </ExternalLink>
    </div>
  );
}

/** The panel links to the networks; it doesn't embed their posts. */
function Social({ sources }: { sources: { array_id: string; source: string }[] }) {
  const { t } = useTexts();
  if (sources.length === 0) return <Note>{t("No sources yet.")}</Note>;
  return (
    <ul className="tifo-list">
      {sources.map(({ array_id, source }) => (
        <li key={array_id} className="tifo-row">
          {webAddress(source) ? <ExternalLink href={source}>{webAddress(source)?.hostname}</ExternalLink> : source}
        </li>
      ))}
    </ul>
  );
}
