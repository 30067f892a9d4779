import type { JsonRule, NavigationEntry, PanelRenderer, QuestAction, RuleTargeting } from "#db/types.ts";
import type { OverlayInput } from "#worker/services/overlays/schemas.ts";
import type { ChannelTemplateInput } from "#worker/services/pages/template-schemas.ts";
import type { SegmentFilter } from "#worker/services/segments/filter.ts";
import type { PlaylistInput } from "#worker/services/playlists/schemas.ts";
import { ID_PATTERN } from "#worker/lib/ids.ts";
import type { Reference, ReferenceKind } from "./references.ts";

// The references to other resources in each body, by their paths in it.

/** The reference at this path, if there is one. */
function one(kind: ReferenceKind, path: string, id: string | null | undefined): Reference[] {
  return id ? [{ kind, path, id }] : [];
}

function each(kind: ReferenceKind, path: string, ids: readonly string[] = []): Reference[] {
  return ids.map((id, index) => ({ kind, path: `${path}.${index}`, id }));
}

export function skusAt(path: string, skus: readonly string[]): Reference[] {
  return each("sku", path, skus);
}

interface PageReferences {
  theme?: string | undefined;
  navigation?: string | undefined;
  sidebar?: { panels?: string[] | undefined } | undefined;
  gate?: { skus?: string[] | undefined } | undefined;
  content?: { live?: Programme | undefined; offline?: Programme | undefined } | undefined;
}

interface Programme {
  video_id?: string | undefined;
}

export function inPageData({ theme, navigation, sidebar, gate, content }: PageReferences): Reference[] {
  return [
    ...one("theme", "data.theme", theme),
    ...one("navigation", "data.navigation", navigation),
    ...each("panel", "data.sidebar.panels", sidebar?.panels),
    ...each("sku", "data.gate.skus", gate?.skus),
    ...one("video", "data.content.live.video_id", content?.live?.video_id),
    ...one("video", "data.content.offline.video_id", content?.offline?.video_id),
  ];
}

/** The kinds of a manual event's collections; cards and groups belong to other systems. */
const COLLECTIONS: Record<string, ReferenceKind> = { panels: "panel", overlays: "overlay", quests: "quest", pages: "page" };

export function inRenderer(renderer: PanelRenderer, path = "renderer"): Reference[] {
  const found: Reference[] = one("segment", `${path}.segment`, renderer.segment);
  if ("quests" in renderer)
    for (const [index, { quest_id: id }] of renderer.quests.entries()) found.push(...one("quest", `${path}.quests.${index}.quest_id`, id));
  if ("leaderboard_id" in renderer) found.push(...one("leaderboard", `${path}.leaderboard_id`, renderer.leaderboard_id));
  if ("questions" in renderer)
    for (const [index, { poll_id: id }] of renderer.questions.entries())
      found.push(...one("poll", `${path}.questions.${index}.poll_id`, id));
  if ("playlist_id" in renderer) found.push(...one("playlist", `${path}.playlist_id`, renderer.playlist_id));
  if ("thank_you_overlay_id" in renderer) found.push(...one("overlay", `${path}.thank_you_overlay_id`, renderer.thank_you_overlay_id));
  if ("behavior" in renderer) found.push(...each("page", `${path}.behavior.pages`, renderer.behavior.pages));
  if ("schedule_type_renderer" in renderer) found.push(...inSchedule(renderer.schedule_type_renderer, `${path}.schedule_type_renderer`));
  return found;
}

type Schedule = Extract<PanelRenderer, { panel_type: "schedule" }>["schedule_type_renderer"];

function inSchedule(schedule: Schedule, path: string): Reference[] {
  if (schedule.schedule_type === "calendar") return each("channel", `${path}.source_channels`, schedule.source_channels);
  return schedule.manual_events.flatMap(({ references }, event) =>
    references.flatMap(({ collection, id }, index) => {
      const kind = COLLECTIONS[collection];
      return kind === undefined ? [] : one(kind, `${path}.manual_events.${event}.references.${index}.id`, id);
    }),
  );
}

export function inOverlay({ contents, cta }: Pick<OverlayInput, "contents" | "cta">): Reference[] {
  const found = contents.flatMap((content, index) => [
    ...(content.kind === "rive" ? one("file", `contents.${index}.mediaId`, content.mediaId) : []),
    ...(content.kind === "ograf" ? one("graphic", `contents.${index}.graphic`, content.graphic) : []),
    ...("channels" in content ? each("channel", `contents.${index}.channels`, content.channels) : []),
    ...one("template", `contents.${index}.templateId`, content.templateId),
    ...shownPoll(content, `contents.${index}.variables.pollId`),
  ]);
  if (cta?.type === "go_to_channel") found.push(...one("channel", "cta.data.channelId", cta.data.channelId));
  if (cta?.type === "play_video") found.push(...one("video", "cta.data.videoId", cta.data.videoId));
  if (cta?.type === "show_panel" || cta?.type === "show_stored_panel") found.push(...one("panel", "cta.data.panelId", cta.data.panelId));
  return found;
}

/** The poll of the kit's poll template, unless a broadcast's variables name it. */
function shownPoll(content: OverlayInput["contents"][number], path: string): Reference[] {
  const pollId = content.kind === "kit" && content.template === "poll" ? content.variables?.pollId : undefined;
  return typeof pollId === "string" && ID_PATTERN.test(pollId) ? one("poll", path, pollId) : [];
}

/** The SKUs and leaderboards that the filters of segments name; `segments` by slug. */
export function inSegments(segments: Record<string, { filter: SegmentFilter }> = {}): Reference[] {
  return Object.entries(segments).flatMap(([slug, { filter }]) => inFilter(filter, `settings.userSegments.${slug}.filter`));
}

function inFilter(filter: SegmentFilter, path: string): Reference[] {
  const groups = (["all", "any"] as const).flatMap((name) =>
    (filter[name] ?? []).map((each, index) => inFilter(each, `${path}.${name}.${index}`)),
  );
  const { not, attribute, value, leaderboardId } = filter;
  return [
    ...groups.flat(),
    ...(not ? inFilter(not, `${path}.not`) : []),
    ...(attribute === "entitlements" && Array.isArray(value) ? skusAt(`${path}.value`, value) : []),
    ...one("leaderboard", `${path}.leaderboardId`, leaderboardId),
  ];
}

/** A template's panels without a renderer reference the site's panels by slug. */
export function inTemplate({ theme, rules, panels }: Pick<ChannelTemplateInput, "theme" | "rules" | "panels">): Reference[] {
  return [
    ...one("theme", "theme", theme),
    ...each("rule", "rules", rules),
    ...panels.flatMap(({ slug, renderer }, index) =>
      renderer ? inRenderer(renderer, `panels.${index}.renderer`) : one("panel's slug", `panels.${index}.slug`, slug),
    ),
  ];
}

export function inRule({ jsonRule: { trigger, action }, channelId }: { jsonRule: JsonRule; channelId: string | null }): Reference[] {
  return [
    ...one("channel", "channelId", channelId),
    ...one("data provider", "jsonRule.trigger.dataProviderId", trigger.dataProviderId),
    ...(action.type === "SEND_OVERLAY"
      ? [
          ...one("template", "jsonRule.action.templateId", action.templateId),
          ...one("segment", "jsonRule.action.targeting.userSegment", action.targeting.userSegment),
          ...inTargeting(action.targeting),
        ]
      : []),
    ...(action.type === "LOCK_POLL" ? one("poll", "jsonRule.action.pollId", action.pollId) : []),
  ];
}

/** The channels of a fixed list; one that comes from the event is looked up when the rule fires. */
function inTargeting({ scope, target }: RuleTargeting): Reference[] {
  if (scope !== "specific_channels" || target?.type !== "static" || typeof target.value === "string") return [];
  return each("channel", "jsonRule.action.targeting.target.value", target.value);
}

export function inLeaderboard({ channelIds }: { channelIds: string[] }): Reference[] {
  return each("channel", "channelIds", channelIds);
}

export function inNavigation(entries: NavigationEntry[], path = "parents"): Reference[] {
  return entries.flatMap(({ pageId, type, children = [] }, index) => [
    ...(type === "folder" ? [] : one(type, `${path}.${index}.pageId`, pageId)),
    ...inNavigation(children, `${path}.${index}.children`),
  ]);
}

export function inMembers(members: PlaylistInput["members"] = []): Reference[] {
  return members.flatMap(({ id, schema }, index) => one(schema, `members.${index}.id`, id));
}

/** What the `validationValue` of a kind of action references. */
function validatedBy(kind: QuestAction["kind"]): ReferenceKind | undefined {
  if (kind === "view:panel") return "panel";
  if (kind === "visit:channel") return "channel";
  if (kind === "watch:specific:video") return "video";
  return kind.endsWith(":specific") || kind.endsWith(":specific:correctly") ? "poll" : undefined;
}

export function inQuest({ channelIds, actions }: { channelIds: string[]; actions: QuestAction[] }): Reference[] {
  return [
    ...each("channel", "channelIds", channelIds),
    ...actions.flatMap(({ kind, channelId, validationValue: value }, index) => {
      const validated = value !== null && ID_PATTERN.test(value) ? validatedBy(kind) : undefined;
      return [
        ...one("channel", `actions.${index}.channelId`, channelId),
        ...(validated ? one(validated, `actions.${index}.validationValue`, value) : []),
      ];
    }),
  ];
}
