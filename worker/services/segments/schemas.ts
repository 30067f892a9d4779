import { z } from "@hono/zod-openapi";
import { ROLE_SCOPES } from "#db/enums.ts";
import { Id } from "#worker/lib/schemas/common.ts";
import { segmentLabel, SegmentSlug } from "#worker/lib/segments.ts";
import {
  ATTRIBUTES,
  conditionsOf,
  kindOf,
  leaderboardsOf,
  OPERATORS,
  type SegmentAttribute,
  type SegmentFilter,
  type SegmentValue,
} from "./filter.ts";

/** A filter is evaluated for every viewer who connects, so its size is limited. */
const MAX_CONDITIONS = 20;
const MAX_VALUES = 20;
const MAX_SEGMENTS = 20;
/** Each is asked about every viewer who connects. */
const MAX_LEADERBOARDS = 5;

const condition = {
  attribute: z
    .enum(ATTRIBUTES)
    .optional()
    .describe(
      "`entitlements`: SKUs that the account holds; `roles`: scopes of its roles; `language` and `country`: of the connection; `watchMinutes`: minutes watched; `points`: on the leaderboard of `leaderboardId`; the others as named",
    ),
  operator: z
    .enum(OPERATORS)
    .optional()
    .describe(
      "Lists: `any_of`, `all_of`, `none_of`; language and country: `any_of`, `none_of`; numbers: `at_least`, `less_than`; signedIn: `is`",
    ),
  value: z
    .union([z.array(z.string().min(1).max(100)).min(1).max(MAX_VALUES), z.number().min(0).max(1_000_000_000), z.boolean()])
    .optional()
    .describe("A list of texts, a number or a boolean, depending on the attribute"),
  leaderboardId: Id.optional().describe("With `points`: whose. A deleted leaderboard counts as 0 points"),
};

/** A group of filters, or a condition; exactly one of them. */
const groupOf = <T extends z.ZodType>(inner: T) => ({
  all: z.array(inner).min(1).max(MAX_CONDITIONS).optional().describe("Matches if every one of these matches"),
  any: z.array(inner).min(1).max(MAX_CONDITIONS).optional().describe("Matches if at least one of these matches"),
  not: inner.optional().describe("Matches if this doesn't"),
  ...condition,
});

// Four levels with a schema each instead of recursion: anything deeper is an unknown field, however deep the input is.
const Level4 = z.strictObject(condition).superRefine(checkNode).openapi("SegmentCondition");
const Level3 = z.strictObject(groupOf(Level4)).superRefine(checkNode).openapi("SegmentFilterLevel3");
const Level2 = z.strictObject(groupOf(Level3)).superRefine(checkNode).openapi("SegmentFilterLevel2");
export const Filter = z.strictObject(groupOf(Level2)).superRefine(checkNode).superRefine(checkSize).openapi("SegmentFilter");

export const UserSegment = z
  .strictObject({
    name: z.string().trim().min(1).max(100).describe("For the site's staff; viewers never see it").openapi({ example: "Gold members" }),
    filter: Filter,
  })
  .openapi("UserSegment");

export const UserSegments = z
  .record(SegmentSlug, UserSegment)
  .superRefine(checkSlugs)
  .describe("Filters over the viewers by slug, for overlays, rules, panels and insights")
  .openapi("UserSegments", {
    example: {
      "gold-members": { name: "Gold members", filter: { attribute: "tags", operator: "any_of", value: ["tier:gold"] } },
    },
  });

export const SegmentParam = z.object({ slug: SegmentSlug });

export const SegmentSize = z
  .object({
    slug: SegmentSlug,
    name: z.string(),
    accounts: z
      .number()
      .int()
      .nullable()
      .describe(
        "The site's accounts that match, counted now; null if the filter depends on language or country, which only connections have, or combines other conditions with the points of more than 50,000 members",
      ),
    viewers: z.number().int().describe("Open sockets in the segment, including signed-out viewers"),
    channels: z.array(z.object({ _id: Id, viewers: z.number().int() })).describe("The same by channel; those without any are left out"),
  })
  .openapi("SegmentSize");

export type UserSegments = z.output<typeof UserSegments>;
export type SegmentSize = z.output<typeof SegmentSize>;

function checkNode(node: SegmentFilter, check: z.RefinementCtx): void {
  const kinds = (["all", "any", "not", "attribute"] as const).filter((key) => node[key] !== undefined);
  const reject = (path: string[], message: string): void => void check.addIssue({ code: "custom", path, message });
  if (kinds.length !== 1) return reject([], "Must have exactly one of all, any, not and attribute");
  const { attribute, operator, value, leaderboardId } = node;
  if (attribute === "points" && leaderboardId === undefined) reject(["leaderboardId"], "Required with points");
  if (attribute !== "points" && leaderboardId !== undefined) reject(["leaderboardId"], "Only allowed with points");
  if (attribute === undefined) {
    if (operator !== undefined) reject(["operator"], "Only allowed with attribute");
    if (value !== undefined) reject(["value"], "Only allowed with attribute");
    return;
  }
  const kind = kindOf(attribute);
  if (operator === undefined || !kind.operators.includes(operator))
    reject(["operator"], `Must be one of ${kind.operators.join(", ")} with ${attribute}`);
  if (value === undefined || typeOf(value) !== kind.value) return reject(["value"], `Must be a ${kind.value} with ${attribute}`);
  if (Array.isArray(value))
    value.forEach((text, index) => checkText(attribute, text, (message) => reject(["value", String(index)], message)));
}

function typeOf(value: SegmentValue): "list" | "number" | "boolean" {
  if (Array.isArray(value)) return "list";
  return typeof value === "number" ? "number" : "boolean";
}

const SCOPES: readonly string[] = ROLE_SCOPES;

function checkText(attribute: SegmentAttribute, text: string, reject: (message: string) => void): void {
  if (attribute === "roles" && !SCOPES.includes(text)) reject(`Must be one of ${SCOPES.join(", ")}`);
  if (attribute === "country" && !/^[A-Z]{2}$/.test(text)) reject("Must be a two-letter country code (ISO 3166-1)");
  if (attribute === "language" && !/^[a-z]{2,3}(-[a-z0-9]{1,8})*$/.test(text))
    reject("Must be a language tag in lower case, such as pt or pt-br");
}

function checkSize(filter: SegmentFilter, check: z.RefinementCtx): void {
  const message = `At most ${MAX_CONDITIONS} conditions`;
  if (conditionsOf(filter).length > MAX_CONDITIONS) check.addIssue({ code: "custom", message });
}

function checkSlugs(segments: Record<string, { filter: SegmentFilter }>, check: z.RefinementCtx): void {
  const slugs = Object.keys(segments);
  if (leaderboardsOf(Object.values(segments)).length > MAX_LEADERBOARDS)
    check.addIssue({ code: "custom", message: `Points of at most ${MAX_LEADERBOARDS} leaderboards` });
  if (slugs.length > MAX_SEGMENTS) check.addIssue({ code: "custom", message: `At most ${MAX_SEGMENTS} segments` });
  // Sockets store a short hash of each slug.
  const labels = new Map<string, string>();
  for (const slug of slugs) {
    const other = labels.get(segmentLabel(slug));
    if (other !== undefined) check.addIssue({ code: "custom", path: [slug], message: `Too similar to ${other}; choose another slug` });
    labels.set(segmentLabel(slug), slug);
  }
}
