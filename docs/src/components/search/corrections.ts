/** Words with this many letters may have two typing errors, shorter ones one. */
const LONG = 6;

/** The known words nearest to a misspelt one, with the fewest typing errors first, then the most common ones. */
export function corrections(word: string, known: ReadonlyMap<string, number>): string[] {
  const most = word.length < LONG ? 1 : 2;
  const near: { candidate: string; errors: number; count: number }[] = [];
  for (const [candidate, count] of known) {
    if (Math.abs(candidate.length - word.length) > most || /\d/.test(candidate)) continue;
    const errors = typingErrors(word, candidate, most);
    // The first letter is rarely wrong.
    if (errors <= most) near.push({ candidate, errors: errors + (candidate[0] === word[0] ? 0 : 0.5), count });
  }
  return near.sort((one, other) => one.errors - other.errors || other.count - one.count).map(({ candidate }) => candidate);
}

/** How many letters are missing, added, wrong or swapped with their neighbour; more than `most` if it is more. */
function typingErrors(one: string, other: string, most: number): number {
  let last: number[] = [];
  let row = Array.from({ length: other.length + 1 }, (_, at) => at);
  for (let i = 1; i <= one.length; i++) {
    const next = [i];
    for (let j = 1; j <= other.length; j++) {
      const same = one[i - 1] === other[j - 1];
      let best = Math.min((row[j] ?? 0) + 1, (next[j - 1] ?? 0) + 1, (row[j - 1] ?? 0) + (same ? 0 : 1));
      if (one[i - 1] === other[j - 2] && one[i - 2] === other[j - 1]) best = Math.min(best, (last[j - 2] ?? 0) + 1);
      next.push(best);
    }
    if (Math.min(...next) > most) return most + 1;
    [last, row] = [row, next];
  }
  return row[other.length] ?? most + 1;
}
