import fc from "fast-check";
import type { SegmentFilter, SegmentViewer } from "#worker/services/segments/filter.ts";

const TAGS = ["team:home", "team:away", "tier:gold"];
const SKUS = ["season-pass", "match-pass"];
const ROLES = ["*", "Chat_Moderator"];

const some = (values: string[]) => fc.subarray(values, { minLength: 1 });
const listOperator = fc.constantFrom("any_of" as const, "all_of" as const, "none_of" as const);
const textOperator = fc.constantFrom("any_of" as const, "none_of" as const);

/** Conditions on what is stored about accounts. */
const storedCondition: fc.Arbitrary<SegmentFilter> = fc.oneof(
  fc.record({ attribute: fc.constant("tags" as const), operator: listOperator, value: some(TAGS) }),
  fc.record({ attribute: fc.constant("entitlements" as const), operator: listOperator, value: some(SKUS) }),
  fc.record({ attribute: fc.constant("roles" as const), operator: listOperator, value: some(ROLES) }),
  fc.record({ attribute: fc.constant("signedIn" as const), operator: fc.constant("is" as const), value: fc.boolean() }),
  fc.record({
    attribute: fc.constant("watchMinutes" as const),
    operator: fc.constantFrom("at_least" as const, "less_than" as const),
    value: fc.constantFrom(0, 1, 1.5, 10),
  }),
);

const connectionCondition: fc.Arbitrary<SegmentFilter> = fc.oneof(
  fc.record({ attribute: fc.constant("language" as const), operator: textOperator, value: some(["en", "pt", "pt-br"]) }),
  fc.record({ attribute: fc.constant("country" as const), operator: textOperator, value: some(["GB", "BR"]) }),
);

const BOARDS = ["5eed00000000000000007801", "5eed00000000000000007802"] as const;

/** Leaderboards keep the points, not the database. */
const pointsOn = (boards: readonly string[]): fc.Arbitrary<SegmentFilter> =>
  fc.record({
    attribute: fc.constant("points" as const),
    operator: fc.constantFrom("at_least" as const, "less_than" as const),
    value: fc.constantFrom(0, 1, 49.5, 50),
    leaderboardId: fc.constantFrom(...boards),
  });

/** Filters of up to three levels over these conditions. */
function filterOver(condition: fc.Arbitrary<SegmentFilter>): fc.Arbitrary<SegmentFilter> {
  const groupOf = (inner: fc.Arbitrary<SegmentFilter>): fc.Arbitrary<SegmentFilter> =>
    fc.oneof(
      condition,
      fc.record({ all: fc.array(inner, { minLength: 1, maxLength: 3 }) }),
      fc.record({ any: fc.array(inner, { minLength: 1, maxLength: 3 }) }),
      fc.record({ not: inner }),
    );
  return groupOf(groupOf(condition));
}

/** Filters over what is stored, with points on these leaderboards. */
export const storedFilter = (boards: string[]) => filterOver(fc.oneof(storedCondition, pointsOn(boards)));
export const anyFilter = filterOver(fc.oneof(storedCondition, connectionCondition, pointsOn(BOARDS)));

export const anyViewer: fc.Arbitrary<SegmentViewer> = fc.record({
  signedIn: fc.boolean(),
  tags: fc.subarray(TAGS),
  entitlements: fc.subarray(SKUS),
  roles: fc.subarray(ROLES),
  language: fc.constantFrom(null, "en", "en-GB", "pt-BR"),
  country: fc.constantFrom(null, "GB", "BR"),
  watchSeconds: fc.constantFrom(0, 60, 90, 600),
  points: fc.constantFrom({}, { [BOARDS[0]]: 50 }, { [BOARDS[0]]: -5, [BOARDS[1]]: 1 }),
});
