import type {
  FACT_TYPES,
  RULE_BEHAVIORS,
  RULE_OPERATORS,
  RULE_SCOPES,
  RULE_SEGMENTS,
  ALERT_COLORS,
  BORDER_RADII,
  BUNDLE_ITEM_TYPES,
  GATE_TYPES,
  MEMBER_SCHEMAS,
  NAVIGATION_ENTRY_TYPES,
  PLAYBACK_PROVIDERS,
  POINTS_SOURCES,
  POSITIONS,
  QUEST_KINDS,
  ROLE_SCOPES,
  SURFACES,
  TEXT_CAPITALIZATIONS,
  TEXT_COLORS,
} from "./enums.ts";
import type { GraphicSnapshot } from "./graphic-types.ts";
import type { KitTemplateName } from "#worker/lib/schemas/overlay-kit/kit.ts";
import type { OverlayCta } from "#worker/lib/schemas/overlay-cta.ts";
import type { PanelRenderer } from "#worker/lib/schemas/panel-renderer.ts";

// Shapes of the JSON columns. The wire schemas of the areas validate them on input.

export interface AccountRole {
  scope: (typeof ROLE_SCOPES)[number];
  pageId: string[];
  write: boolean;
}

/** An answer option of a poll. */
export interface PollAnswer {
  id: string;
  answer: string;
  imageUrl: string | null;
}

export interface ThirdPartyProvider {
  accountId: string;
  provider: string;
}

export interface SiteSecurity {
  allowedOrigins: string[];
  allowNewAdmins: boolean;
  requireVerifiedEmail: boolean;
  requireStaffTotp?: boolean | undefined;
  longInviteTokens?: boolean | undefined;
  providers: { name: string; jwksUrl: string; audience: string }[];
}

export interface SiteSettings {
  security: SiteSecurity;
  [setting: string]: unknown;
}

/** What Stripe still requires from the owner of a connected account, with Stripe's names. */
export interface StripeRequirements {
  currentlyDue: string[];
  pastDue: string[];
  disabledReason: string | null;
}

export type SiteStyle = Record<string, unknown>;

export interface PageSeo {
  title?: string;
  description?: string;
}

export interface PageGate {
  type: (typeof GATE_TYPES)[number];
  skus: string[];
}

/** Milliseconds since 1970 UTC. */
export interface PageSchedule {
  startTimestamp: number;
  endTimestamp: number;
}

export interface PageProgramme {
  video_id?: string;
  [field: string]: unknown;
}

export interface PageData {
  name: string;
  gate: PageGate;
  schedule?: PageSchedule;
  /** Countries (ISO 3166-1 alpha-2) where it can be watched. Absent or empty: everywhere. */
  regions?: string[];
  /** `panels` are the ids of the sidebar's panels, in order. */
  sidebar?: { panels?: string[]; [field: string]: unknown };
  /** What plays while the channel is live, and while it isn't. */
  content?: { live?: PageProgramme; offline?: PageProgramme; [field: string]: unknown };
  theme?: string;
  navigation?: string;
  [field: string]: unknown;
}

type Variables = Record<string, string | number | boolean>;
type Position = (typeof POSITIONS)[number];

export type OverlayContent =
  | { kind: "html"; html: string; position: Position; templateId?: string; variables?: Variables; channels?: string[] }
  | { kind: "rive"; mediaId: string; fileName: string; position: Position; templateId?: string; url?: string; variables?: Variables }
  | {
      kind: "kit";
      template: KitTemplateName;
      key?: string;
      position: Position;
      templateId?: string;
      variables?: Variables;
      channels?: string[];
    }
  | {
      kind: "ograf";
      graphic: string;
      key?: string;
      position: Position;
      templateId?: string;
      variables?: Record<string, unknown>;
      channels?: string[];
      /** Of the graphic, when the overlay was saved. Not part of the API. */
      snapshot?: GraphicSnapshot;
    };

export type OverlayContents = OverlayContent[];

/** Re-exported, because the union of all calls to action is too large to write twice. */
export type { OverlayCta };

/** `value` in minor units of the currency (ISO 4217, lower case). One price of a list is the default. */
export interface SubscriptionPrice {
  currency: string;
  default: boolean;
  value: number;
  paymentPlanId?: string;
}

export interface CalendarCategory {
  title: string;
  label: string;
}

export interface CalendarDate {
  startTimestamp: number;
  endTimestamp: number | null;
  timeZone: string;
  useEndTime: boolean;
}

export interface CalendarImage {
  show: boolean;
  src: string;
}

/** How the URL of a video or stream is signed; `id` is its id at the provider. */
export interface PlaybackSettings {
  provider: (typeof PLAYBACK_PROVIDERS)[number];
  id?: string | undefined;
}

/** A panel of a template. Without a renderer, the site's panel with that slug is copied. */
export interface TemplatePanel {
  _id?: string;
  collection: "panels";
  type: "panel";
  creator: string;
  owner: string;
  site_id: string;
  slug: string;
  renderer?: PanelRenderer;
}

/** Re-exported, because the union of all panel types is too large to write twice. */
export type { PanelRenderer };

export interface PlaylistMember {
  id: string;
  schema: (typeof MEMBER_SCHEMAS)[number];
}

export interface NavigationLink {
  name: string;
  url: string;
}

export interface NavigationEntry {
  type: (typeof NAVIGATION_ENTRY_TYPES)[number];
  pageId?: string;
  name?: string;
  private: boolean;
  children?: NavigationEntry[];
}

/** Hex colours by their role. */
export type ThemeColors = Partial<Record<ThemeColor, string>>;
export type ThemeColor = "accent" | "highlight" | (typeof SURFACES)[number] | (typeof TEXT_COLORS)[number] | (typeof ALERT_COLORS)[number];

export interface ThemeButton {
  borderRadius: (typeof BORDER_RADII)[number];
  textCapitalization: (typeof TEXT_CAPITALIZATIONS)[number];
}

export interface ThemeTypography {
  body: string;
  headline: string;
}

/** An action of a quest. Times are seconds since 1970 UTC; fields that don't apply to the action are null. */
export interface QuestAction {
  arrayId: string;
  body: string;
  kind: (typeof QUEST_KINDS)[number];
  callToAction: string | null;
  channelId: string | null;
  timeMinimum: number | null;
  timeMaximum: number | null;
  validationValue: string | null;
  valueRequired: number | null;
}

/** What a leaderboard awards points for, each at most `perDay` times per account and day (UTC). */
export interface PointsRule {
  on: (typeof POINTS_SOURCES)[number];
  points: number;
  perDay?: number | undefined;
}

/** The result of a raffle; `at` in milliseconds since 1970 UTC. */
export interface RaffleDraw {
  at: number;
  seed: string;
  winners: { claimId: string; accountId: string }[];
}

/** A ticket's id is the SKU that it grants; a shop item's is the shop's product id. */
export interface BundleItem {
  type: (typeof BUNDLE_ITEM_TYPES)[number];
  id: string;
}

/** The types of a data provider's facts, by their dotted paths in its events. */
export type FactTypes = Record<string, (typeof FACT_TYPES)[number]>;

/** A literal value (static), or the dotted path of a value in the event (dynamic). */
export type Binding<Value> = { type: "static"; value: Value } | { type: "dynamic"; value: string };

export interface RuleTrigger {
  dataProviderId: string;
  fact: string;
  operator: (typeof RULE_OPERATORS)[number];
  value: string | number | boolean;
  behavior: (typeof RULE_BEHAVIORS)[number];
  /** Only if `behavior` is delayed. */
  delaySeconds?: number | undefined;
}

export interface RuleTargeting {
  scope: (typeof RULE_SCOPES)[number];
  /** Channel ids for `specific_channels`, metadata for `channel_metadata`. */
  target?: Binding<string | string[]> | undefined;
  segment: (typeof RULE_SEGMENTS)[number];
  tags?: Binding<string>[] | undefined;
  /** The slug of the segment, for `viewers_in_segment`. */
  userSegment?: string | undefined;
  priority: number;
}

export interface SendOverlay {
  type: "SEND_OVERLAY";
  targeting: RuleTargeting;
  templateId: string;
  variableMapping: Record<string, Binding<string | number | boolean>>;
  timecodeMapping?: Binding<number> | undefined;
  broadcastPayload?: Record<string, unknown> | undefined;
}

export interface CreateChannel {
  type: "CREATE_CHANNEL";
  name: Binding<string>;
}

export interface LockPoll {
  type: "LOCK_POLL";
  pollId: string;
}

export interface JsonRule {
  trigger: RuleTrigger;
  action: SendOverlay | CreateChannel | LockPoll;
}

/** What a scheduled broadcast sends; other kinds need nothing. */
export type ScheduledPayload = Record<string, unknown>;

/** The credential that scheduled an action. */
export interface ScheduledBy {
  kind: "developer" | "account";
  id: string;
}

interface RundownItemBase {
  _id: string;
  name: string;
  /** For the operators. */
  notes: string;
  /** When it is taken without an operator, ms. */
  at: number | null;
}

/** A step of a show. */
export type RundownItem = RundownItemBase &
  (
    | { kind: "broadcast"; overlayId: string; broadcast: ScheduledPayload }
    | { kind: "poll"; pollId: string; action: "open" | "close" | "settle"; correctAnswerId: string | null }
    | { kind: "quest"; questId: string; action: "open" | "close" }
    | { kind: "raffle"; questId: string; winners: number }
    | { kind: "stream"; streamId: string; action: "start" | "stop" }
    | { kind: "wait"; seconds: number }
    | { kind: "note" }
  );

/** A part of a site's archive. */
export interface ArchivePiece {
  /** The object's key in the bucket. */
  key: string;
  bytes: number;
}

/** How a broadcast was received: the counts of its receipt. */
export interface TakeReceipt {
  sockets: number;
  sent: number;
  acknowledged: number;
  seen: number | null;
  late: number;
  missing: number;
  delay: { p50: number | null; p95: number | null; p99: number | null };
}

export type StatValue = string | number | boolean;

/** Where a provider's events have the facts of an entity: dotted paths, relative to each element of `each` if that is set. */
export interface EntityMapping {
  channelId: string;
  each?: string | undefined;
  entityType: string;
  id: string;
  name?: string | undefined;
  image?: string | undefined;
  team?: string | undefined;
  at?: string | undefined;
  /** The paths of its facts, by their names. */
  facts: Record<string, string>;
}

/** Where a provider's events have key plays. */
export interface KeyPlayMapping {
  channelId: string;
  each?: string | undefined;
  /** Only events in which this path has this value. */
  when?: { fact: string; equals: StatValue } | undefined;
  id?: string | undefined;
  kind: string;
  title: string;
  description?: string | undefined;
  entityType?: string | undefined;
  entityId?: string | undefined;
  mediaTime?: string | undefined;
  at?: string | undefined;
}

/** What of a provider's events is kept as match facts. */
export interface StatMapping {
  entities: EntityMapping[];
  keyPlays: KeyPlayMapping[];
}

/** A step of the cron that failed. */
export interface CronFailure {
  step: string;
  siteId?: string;
  cause: string;
}
