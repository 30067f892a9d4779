/** How long, and how many, settled deliveries are kept. */
export const KEPT_MS = 7 * 24 * 60 * 60 * 1000;
const KEPT_ROWS = 20_000;
/** How long pending deliveries are kept: only a disabled endpoint, or a resource that keeps failing, has any this old. */
export const WAITING_MS = 30 * 24 * 60 * 60 * 1000;
/** Rows that one pruning examines. */
export const PRUNED_ROWS = 2 * KEPT_ROWS;

/** The number up to which settled deliveries are too many; 0 if they aren't. A page counts as a whole, so that no more are kept. */
export function lastBeyond(sql: SqlStorage): number {
  const { last } = sql
    .exec<{ last: number | null }>(
      `SELECT max(number) AS last FROM (
         SELECT number, sum(settled) OVER (ORDER BY number DESC) AS newer FROM (
           SELECT number, 1 AS settled FROM deliveries WHERE state <> 'pending' UNION ALL SELECT number, delivered FROM pages))
       WHERE newer > ?`,
      KEPT_ROWS,
    )
    .one();
  return last ?? 0;
}
