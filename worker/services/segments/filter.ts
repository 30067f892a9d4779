/** The account or connection that a filter is evaluated for. */
export interface SegmentViewer {
  signedIn: boolean;
  tags: string[];
  /** The SKUs that the account holds. */
  entitlements: string[];
  /** The scopes of its roles. */
  roles: string[];
  /** The language tag that it prefers, if known. */
  language: string | null;
  /** The country that it connects from (ISO 3166-1), if known. */
  country: string | null;
  /** Seconds of video that it has watched. */
  watchSeconds: number;
  /** Its points by leaderboard; a leaderboard that isn't there counts as 0. */
  points: Readonly<Record<string, number>>;
}

/** What a kind of attribute can be compared with, and how. */
const KINDS = {
  list: { operators: ["any_of", "all_of", "none_of"], value: "list" },
  text: { operators: ["any_of", "none_of"], value: "list" },
  number: { operators: ["at_least", "less_than"], value: "number" },
  flag: { operators: ["is"], value: "boolean" },
} as const;

export const ATTRIBUTES = ["tags", "entitlements", "roles", "language", "country", "watchMinutes", "points", "signedIn"] as const;

const KIND_OF = {
  tags: "list",
  entitlements: "list",
  roles: "list",
  language: "text",
  country: "text",
  watchMinutes: "number",
  points: "number",
  signedIn: "flag",
} as const satisfies Record<SegmentAttribute, keyof typeof KINDS>;
export type SegmentAttribute = (typeof ATTRIBUTES)[number];
export type SegmentOperator = (typeof OPERATORS)[number];
export type SegmentValue = string[] | number | boolean;

export const OPERATORS = ["any_of", "all_of", "none_of", "at_least", "less_than", "is"] as const;

/** A node of a filter: either a group (`all`, `any`, `not`) or a condition. The schema guarantees that it is exactly one of them. */
export interface SegmentFilter {
  all?: SegmentFilter[] | undefined;
  any?: SegmentFilter[] | undefined;
  not?: SegmentFilter | undefined;
  attribute?: SegmentAttribute | undefined;
  operator?: SegmentOperator | undefined;
  value?: SegmentValue | undefined;
  /** Whose points; only with `points`. */
  leaderboardId?: string | undefined;
}

/** How an attribute may be compared. */
export function kindOf(attribute: SegmentAttribute): { operators: readonly SegmentOperator[]; value: "list" | "number" | "boolean" } {
  return KINDS[KIND_OF[attribute]];
}

/** Whether a viewer is in the segment with this filter. What isn't known matches no condition but `none_of`. */
export function matches(filter: SegmentFilter, viewer: SegmentViewer): boolean {
  if (filter.all) return filter.all.every((each) => matches(each, viewer));
  if (filter.any) return filter.any.some((each) => matches(each, viewer));
  if (filter.not) return !matches(filter.not, viewer);
  const { attribute, operator, value } = filter;
  if (attribute === undefined || operator === undefined || value === undefined) return false;
  return compares(valueOf(attribute, viewer, filter.leaderboardId), operator, value);
}

function valueOf(attribute: SegmentAttribute, viewer: SegmentViewer, leaderboardId = ""): string[] | number | boolean {
  switch (attribute) {
    case "language":
      return viewer.language === null ? [] : prefixesOf(viewer.language);
    case "country":
      return viewer.country === null ? [] : [viewer.country];
    case "watchMinutes":
      return viewer.watchSeconds / 60;
    case "points":
      return viewer.points[leaderboardId] ?? 0;
    default:
      return viewer[attribute];
  }
}

/** A language and the more general ones: `pt-BR` is also `pt`. */
function prefixesOf(language: string): string[] {
  const parts = language.toLowerCase().split("-");
  return parts.map((_, index) => parts.slice(0, index + 1).join("-"));
}

function compares(actual: SegmentValue, operator: SegmentOperator, wanted: SegmentValue): boolean {
  switch (operator) {
    case "is":
      return actual === wanted;
    case "at_least":
      return typeof actual === "number" && typeof wanted === "number" && actual >= wanted;
    case "less_than":
      return typeof actual === "number" && typeof wanted === "number" && actual < wanted;
    default:
      return Array.isArray(actual) && Array.isArray(wanted) && contains(actual, operator, wanted);
  }
}

function contains(actual: string[], operator: "any_of" | "all_of" | "none_of", wanted: string[]): boolean {
  if (operator === "all_of") return wanted.every((each) => actual.includes(each));
  return wanted.some((each) => actual.includes(each)) === (operator === "any_of");
}

/** Every condition of a filter. */
export function conditionsOf(filter: SegmentFilter): SegmentFilter[] {
  const inner = [...(filter.all ?? []), ...(filter.any ?? []), ...(filter.not ? [filter.not] : [])];
  return filter.attribute === undefined ? inner.flatMap(conditionsOf) : [filter];
}

/** The leaderboards whose points these filters depend on. */
export function leaderboardsOf(segments: { filter: SegmentFilter }[]): string[] {
  return [...new Set(segments.flatMap(({ filter }) => conditionsOf(filter).flatMap(({ leaderboardId }) => leaderboardId ?? [])))];
}

/** Whether a filter depends on this attribute. */
export function uses(filter: SegmentFilter, attribute: SegmentAttribute): boolean {
  return conditionsOf(filter).some((condition) => condition.attribute === attribute);
}
