export interface Difference {
  /** For example "data.name". */
  path: string;
  mine: string;
  theirs: string;
}

/** Where two versions of a body differ. Lists count as one value, because their items have no names. */
export function differences(mine: unknown, theirs: unknown): Difference[] {
  const [left, right] = [flatten(mine), flatten(theirs)];
  return [...new Set([...left.keys(), ...right.keys()])]
    .map((path) => ({ path, mine: left.get(path) ?? "–", theirs: right.get(path) ?? "–" }))
    .filter((difference) => difference.mine !== difference.theirs);
}

function flatten(value: unknown, path = "", found = new Map<string, string>()): Map<string, string> {
  if (typeof value === "object" && value !== null && !Array.isArray(value)) {
    for (const [name, inner] of Object.entries(value)) flatten(inner, path === "" ? name : `${path}.${name}`, found);
  } else if (value !== undefined && value !== null) {
    found.set(path, typeof value === "string" ? value : JSON.stringify(value));
  }
  return found;
}
