import { MAX_TOTAL } from "./leaderboard.protocol.ts";

/** Each level has 256 buckets per bucket of the level above; the last level has one bucket per number of points. */
const LEVELS = 4;
const WIDTH = 256;

export const BUCKETS_TABLE =
  "CREATE TABLE buckets (level INTEGER NOT NULL, prefix INTEGER NOT NULL, members INTEGER NOT NULL, PRIMARY KEY (level, prefix)) WITHOUT ROWID";

/** Changes of the number of members by points, collected so that many awards write each bucket once. */
export class BucketChanges {
  readonly #members = new Map<number, number>();

  /** A member now has `after` points; `before` is null for a new one. */
  moved(before: number | null, after: number): void {
    if (before !== null) this.#add(before, -1);
    this.#add(after, 1);
  }

  #add(points: number, members: number): void {
    this.#members.set(points, (this.#members.get(points) ?? 0) + members);
  }

  /** The change of each bucket that changes. */
  *changes(): Generator<{ level: number; prefix: number; members: number }> {
    for (let level = 1; level <= LEVELS; level++) {
      const sums = new Map<number, number>();
      for (const [points, members] of this.#members) {
        const prefix = prefixOf(points, level);
        sums.set(prefix, (sums.get(prefix) ?? 0) + members);
      }
      for (const [prefix, members] of sums) if (members !== 0) yield { level, prefix, members };
    }
  }
}

/**
 * How many members have how many points, as a radix tree over the points: how many are ahead of a number of points takes at most 255 rows
 * on each of four levels, however many members there are.
 */
export class PointBuckets {
  readonly #sql: SqlStorage;

  constructor(sql: SqlStorage) {
    this.#sql = sql;
  }

  apply(changes: BucketChanges): void {
    for (const { level, prefix, members } of changes.changes()) {
      this.#sql.exec(
        "INSERT INTO buckets VALUES (?, ?, ?) ON CONFLICT DO UPDATE SET members = members + excluded.members",
        level,
        prefix,
        members,
      );
      if (members < 0) this.#sql.exec("DELETE FROM buckets WHERE level = ? AND prefix = ? AND members = 0", level, prefix);
    }
  }

  /** The number of members with more points than these. */
  ahead(points: number): number {
    let sum = 0;
    for (let level = 1; level <= LEVELS; level++) {
      const prefix = prefixOf(points, level);
      sum += this.#between(level, prefix + 1, firstInParent(prefix) + WIDTH - 1);
    }
    return sum;
  }

  /** The number of members with exactly these points. */
  at(points: number): number {
    const prefix = prefixOf(points, LEVELS);
    return this.#between(LEVELS, prefix, prefix);
  }

  total(): number {
    return this.#between(1, 0, WIDTH - 1);
  }

  /** The points of the member at this position, counted from 0 at the top, and its position among those with equal points. */
  pointsAt(position: number): { points: number; within: number } | null {
    let first = 0;
    let rest = position;
    for (let level = 1; level <= LEVELS; level++) {
      const select = "SELECT prefix, members FROM buckets WHERE level = ? AND prefix BETWEEN ? AND ? ORDER BY prefix DESC";
      let found: number | null = null;
      const buckets = this.#sql.exec<{ prefix: number; members: number }>(select, level, first, first + WIDTH - 1).toArray();
      for (const { prefix, members } of buckets) {
        if (rest < members) {
          found = prefix;
          break;
        }
        rest -= members;
      }
      if (found === null) return null;
      if (level === LEVELS) return { points: found - OFFSET, within: rest };
      first = found * WIDTH;
    }
    return null;
  }

  #between(level: number, from: number, to: number): number {
    const select = "SELECT coalesce(sum(members), 0) AS members FROM buckets WHERE level = ? AND prefix BETWEEN ? AND ?";
    return this.#sql.exec<{ members: number }>(select, level, from, to).one().members;
  }
}

/** Points may be negative, prefixes aren't: the totals take up fewer than 256 to the power of 4 values. */
const OFFSET = MAX_TOTAL;

function prefixOf(points: number, level: number): number {
  return Math.floor((points + OFFSET) / WIDTH ** (LEVELS - level));
}

function firstInParent(prefix: number): number {
  return Math.floor(prefix / WIDTH) * WIDTH;
}
