/** An account that takes part in the conversation. */
export interface Participant {
  accountId: string;
  name: string;
}

const MAX_MENTIONS = 10;

/** The participants whose names follow an @, the longest matching name at each. A name ends where no letter or digit follows. */
export function findMentions(text: string, participants: readonly Participant[]): string[] {
  if (!text.includes("@")) return [];
  const folded = text.toLocaleLowerCase("en");
  const byLength = [...participants].sort((one, other) => other.name.length - one.name.length);
  const found = new Set<string>();
  for (let at = folded.indexOf("@"); at >= 0 && found.size < MAX_MENTIONS; at = folded.indexOf("@", at + 1)) {
    const mentioned = byLength.find(({ name }) => isNameAt(folded, name.toLocaleLowerCase("en"), at + 1));
    if (mentioned) found.add(mentioned.accountId);
  }
  return [...found];
}

function isNameAt(text: string, name: string, index: number): boolean {
  return name !== "" && text.startsWith(name, index) && !/^[\p{L}\p{N}]/u.test(text.slice(index + name.length));
}
