import fc from "fast-check";
import { describe, expect, test } from "vitest";
import { segmentLabel } from "#worker/lib/segments.ts";
import { matches, type SegmentFilter, type SegmentViewer, uses } from "./filter.ts";
import { anyFilter, anyViewer } from "#test/segments.ts";
import { Filter, UserSegments } from "./schemas.ts";

const FAN: SegmentViewer = {
  signedIn: true,
  tags: ["team:home", "tier:gold"],
  entitlements: ["season-pass"],
  roles: ["Chat_Moderator"],
  language: "pt-BR",
  country: "BR",
  watchSeconds: 5400,
  points: {},
};
const STRANGER: SegmentViewer = {
  signedIn: false,
  tags: [],
  entitlements: [],
  roles: [],
  language: null,
  country: null,
  watchSeconds: 0,
  points: {},
};

const is = (attribute: SegmentFilter["attribute"], operator: SegmentFilter["operator"], value: SegmentFilter["value"]): SegmentFilter => ({
  attribute,
  operator,
  value,
});

describe("points", () => {
  const [board, other] = ["5eed00000000000000007801", "5eed00000000000000007802"];
  const fan = { ...FAN, points: { [board]: 99 } };
  const atLeast = (value: number, leaderboardId?: string) => ({ attribute: "points", operator: "at_least", value, leaderboardId });

  test("are those of the condition's leaderboard; without any they are 0", () => {
    const condition = Filter.parse(atLeast(99, board));
    expect([matches(condition, fan), matches({ ...condition, value: 100 }, fan)]).toEqual([true, false]);
    expect([matches({ ...condition, leaderboardId: other }, fan), matches({ ...condition, value: 0 }, STRANGER)]).toEqual([false, true]);
  });

  test("need a leaderboard, which nothing else may have, and at most five of a site", () => {
    expect(Filter.safeParse(atLeast(1)).error?.issues).toMatchObject([{ path: ["leaderboardId"] }]);
    const signedIn = { attribute: "signedIn", operator: "is", value: true, leaderboardId: board };
    expect(Filter.safeParse(signedIn).error?.issues).toMatchObject([{ path: ["leaderboardId"] }]);
    expect(Filter.safeParse({ all: [atLeast(1, board)], leaderboardId: board }).error?.issues).toMatchObject([{ path: ["leaderboardId"] }]);
    const segments = (count: number) =>
      Object.fromEntries(
        Array.from({ length: count }, (_, n) => [`s-${n}`, { name: "S", filter: atLeast(1, `${board.slice(0, -1)}${n}`) }]),
      );
    expect([UserSegments.safeParse(segments(5)).success, UserSegments.safeParse(segments(6)).success]).toEqual([true, false]);
  });
});

describe("a filter", () => {
  test.each<[SegmentFilter, fan: boolean, stranger: boolean]>([
    [is("tags", "any_of", ["team:home", "team:away"]), true, false],
    [is("tags", "all_of", ["team:home", "tier:gold"]), true, false],
    [is("tags", "all_of", ["team:home", "tier:silver"]), false, false],
    [is("tags", "none_of", ["tier:silver"]), true, true],
    [is("tags", "none_of", ["tier:silver", "tier:gold"]), false, true],
    [is("entitlements", "any_of", ["season-pass"]), true, false],
    [is("roles", "any_of", ["Chat_Moderator"]), true, false],
    [is("language", "any_of", ["pt"]), true, false],
    [is("language", "any_of", ["pt-br"]), true, false],
    [is("language", "any_of", ["pt-pt"]), false, false],
    [is("language", "none_of", ["en"]), true, true],
    [is("country", "any_of", ["BR", "PT"]), true, false],
    [is("country", "none_of", ["BR"]), false, true],
    [is("watchMinutes", "at_least", 90), true, false],
    [is("watchMinutes", "at_least", 91), false, false],
    [is("watchMinutes", "less_than", 90), false, true],
    [is("signedIn", "is", true), true, false],
    [is("signedIn", "is", false), false, true],
    [{ all: [is("signedIn", "is", true), is("country", "any_of", ["BR"])] }, true, false],
    [{ any: [is("signedIn", "is", false), is("country", "any_of", ["BR"])] }, true, true],
    [{ not: is("tags", "any_of", ["team:home"]) }, false, true],
    [{ all: [{ any: [is("tags", "any_of", ["x:y"]), { not: is("country", "any_of", ["PT"]) }] }] }, true, true],
  ])("%j matches a fan: %s, and a stranger: %s", (filter, fan, stranger) => {
    expect(Filter.safeParse(filter).success).toBe(true);
    expect([matches(filter, FAN), matches(filter, STRANGER)]).toEqual([fan, stranger]);
  });

  test("obeys the laws of logic", () => {
    fc.assert(
      fc.property(anyFilter, anyFilter, anyViewer, (a, b, viewer) => {
        const holds = (filter: SegmentFilter) => matches(filter, viewer);
        expect(holds({ not: a })).toBe(!holds(a));
        expect(holds({ all: [a, b] })).toBe(holds(a) && holds(b));
        expect(holds({ not: { any: [a, b] } })).toBe(holds({ all: [{ not: a }, { not: b }] }));
      }),
    );
  });
});

describe("a filter is rejected", () => {
  const condition = is("tags", "any_of", ["a:b"]);
  const nested = { all: [{ any: [{ not: { all: [condition] } }] }] };
  test.each<[string, unknown, path: string]>([
    ["without a condition", {}, ""],
    ["that is both a group and a condition", { ...condition, all: [condition] }, ""],
    ["with two groups", { all: [condition], any: [condition] }, ""],
    ["with an empty group", { all: [] }, "all"],
    ["deeper than four levels", nested, "all.0.any.0.not"],
    ["with an unknown attribute", { attribute: "email", operator: "any_of", value: ["a"] }, "attribute"],
    ["with an unknown field", { ...condition, regex: ".*" }, ""],
    ["with an operator of another kind", is("watchMinutes", "any_of", ["1"]), "operator"],
    ["with a value of another kind", is("tags", "any_of", 1), "value"],
    ["without a value", { attribute: "tags", operator: "any_of" }, "value"],
    ["with an empty list", is("tags", "any_of", []), "value"],
    ["with 21 values", is("tags", "any_of", Array.from({ length: 21 }, String)), "value"],
    ["with a long value", is("tags", "any_of", ["x".repeat(101)]), "value.0"],
    ["with an unknown role", is("roles", "any_of", ["Owner"]), "value.0"],
    ["with a country in lower case", is("country", "any_of", ["br"]), "value.0"],
    ["with a language in upper case", is("language", "any_of", ["pt", "PT-BR"]), "value.1"],
    ["with a negative number", is("watchMinutes", "at_least", -1), "value"],
    ["with an operator in a group", { all: [condition], operator: "any_of" }, "operator"],
    ["with 21 conditions", { all: [{ any: Array.from({ length: 20 }, () => condition) }, condition] }, ""],
  ])("%s", (_name, filter, path) => {
    expect(Filter.safeParse(filter).error?.issues.map((issue) => issue.path.join("."))).toContain(path);
  });
});

test("a site has at most 20 segments, whose slugs differ where sockets store them", () => {
  const segment = { name: "Fans", filter: is("tags", "any_of", ["a:b"]) };
  const many = (count: number) => Object.fromEntries(Array.from({ length: count }, (_, index) => [`segment-${index}`, segment]));
  expect(UserSegments.safeParse(many(20)).success).toBe(true);
  expect(UserSegments.safeParse(many(21)).success).toBe(false);
  const [one, other] = collidingSlugs();
  expect(UserSegments.safeParse({ [one]: segment, [other]: segment }).error?.issues[0]?.path).toEqual([other]);
});

/** Two slugs with the same label. */
function collidingSlugs(): [string, string] {
  const seen = new Map<string, string>();
  for (let index = 0; ; index++) {
    const slug = `s${index}`;
    const known = seen.get(segmentLabel(slug));
    if (known !== undefined) return [known, slug];
    seen.set(segmentLabel(slug), slug);
  }
}

test("a filter depends on the attributes of its conditions, however deep", () => {
  const watched: SegmentFilter = { attribute: "watchMinutes", operator: "at_least", value: 5 };
  const tagged: SegmentFilter = { attribute: "tags", operator: "any_of", value: ["a"] };
  for (const filter of [watched, { any: [tagged, watched] }, { all: [tagged, { not: { any: [tagged, { not: watched }] } }] }])
    expect([uses(filter, "watchMinutes"), uses(filter, "points")]).toEqual([true, false]);
  expect(uses({ all: [tagged] }, "watchMinutes")).toBe(false);
});
