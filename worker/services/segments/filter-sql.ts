import { and, not, or, type SQL, sql } from "drizzle-orm";
import { accounts } from "#db/schema/accounts.ts";
import { accountEntitlements } from "#db/schema/commerce/entitlements.ts";
import { effectiveRoles } from "#worker/services/accounts/role-rules.ts";
import { givesAccess } from "#worker/services/subscriptions/entitlements.ts";
import { conditionsOf, matches, type SegmentAttribute, type SegmentFilter, type SegmentValue, type SegmentViewer } from "./filter.ts";
import { watchSeconds } from "./membership.ts";

/** Whether a filter only depends on what is stored about accounts, so that they can be counted. */
export function isStored(filter: SegmentFilter): boolean {
  return conditionsOf(filter).every(({ attribute }) => attribute !== "language" && attribute !== "country");
}

/** What a filter is evaluated with. */
export interface FilterScope {
  siteId: string;
  now: number;
  /** The accounts that `beyond` of a condition's leaderboard lists for its number of points, by `pointsKey`. */
  beyond: ReadonlyMap<string, string[]>;
}

/** Identifies the leaderboard and points of a condition. */
export function pointsKey({ leaderboardId = "", value }: SegmentFilter): string {
  return `${leaderboardId}/${String(value)}`;
}

/** Whether the accounts that `beyond` lists are those that match a condition on points; if not, all others match. */
export function areMembersMatched({ operator, value }: SegmentFilter): boolean {
  return (operator === "at_least") === (typeof value === "number" && value > 0);
}

/** `matches` of filter.ts as a condition on `accounts`, for a filter that `isStored`. */
export function accountsMatching(filter: SegmentFilter, scope: FilterScope): SQL {
  const { siteId, now, beyond } = scope;
  const compile = (each: SegmentFilter) => accountsMatching(each, scope);
  if (filter.all) return and(...filter.all.map(compile)) ?? sql`true`;
  if (filter.any) return or(...filter.any.map(compile)) ?? sql`false`;
  if (filter.not) return not(compile(filter.not));
  const { attribute, operator, value } = filter;
  if (attribute === undefined || operator === undefined || value === undefined) return sql`false`;
  if (attribute === "watchMinutes") return compareNumber(sql`${watchSeconds(siteId)} / 60.0`, operator, value);
  if (attribute === "points") {
    const isListed = sql`${accounts.id} in (select value from json_each(${JSON.stringify(beyond.get(pointsKey(filter)) ?? [])}))`;
    return areMembersMatched(filter) ? isListed : not(isListed);
  }
  if (attribute === "signedIn") return matches(filter, ACCOUNT) ? sql`true` : sql`false`;
  const held = valuesOf(attribute, siteId, now);
  return held ? compareList(held, operator, value) : sql`false`;
}

/** What is true of every account. */
const ACCOUNT: SegmentViewer = {
  signedIn: true,
  tags: [],
  entitlements: [],
  roles: [],
  language: null,
  country: null,
  watchSeconds: 0,
  points: {},
};

/** A select of an account's values, in a column `value`. */
function valuesOf(attribute: SegmentAttribute, siteId: string, now: number): SQL | undefined {
  switch (attribute) {
    case "tags":
      return sql`select value from json_each(${accounts.tags})`;
    case "roles":
      return sql`select json_extract(value, '$.scope') as value from json_each(${effectiveRoles})`;
    case "entitlements":
      return sql`select ${accountEntitlements.sku} as value from ${accountEntitlements} where ${accountEntitlements.siteId} = ${siteId}
        and ${accountEntitlements.accountId} = ${accounts.id} and ${givesAccess(now)}`;
    default:
      return undefined;
  }
}

function compareList(held: SQL, operator: SegmentFilter["operator"], value: SegmentValue): SQL {
  const wanted = sql`select value from json_each(${JSON.stringify(value)})`;
  if (operator === "all_of") return sql`not exists (${wanted} except ${held})`;
  const some = sql`exists (${wanted} intersect ${held})`;
  return operator === "any_of" ? some : sql`not ${some}`;
}

function compareNumber(stored: SQL, operator: SegmentFilter["operator"], value: SegmentValue): SQL {
  return operator === "at_least" ? sql`(${stored} >= ${value})` : sql`(${stored} < ${value})`;
}
