/** The words that two people made of the same ones: what either has added, without what either has removed. */
export function mergedWords(before: string, mine: string, theirs: string): string {
  if (theirs === before || theirs === mine) return mine;
  if (mine === before) return theirs;
  const [old, own, other] = [wordsOf(before), wordsOf(mine), wordsOf(theirs)];
  const kept = other.filter((word) => own.includes(word) || !old.includes(word));
  return [...kept, ...own.filter((word) => !old.includes(word) && !other.includes(word))].join(" ");
}

function wordsOf(text: string): string[] {
  return text.split(/\s+/).filter((word) => word !== "");
}
