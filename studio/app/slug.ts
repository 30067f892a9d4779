/** A name as an address has it: "Städtischer FC" becomes "stadtischer-fc"; `fallback` if nothing of it is left. */
export function slugOf(name: string, fallback: string): string {
  const plain = name
    .normalize("NFKD")
    .toLowerCase()
    .replaceAll(/\p{M}/gu, "")
    .replaceAll(/[^a-z0-9]+/g, "-")
    .slice(0, 100)
    .replaceAll(/^-+|-+$/g, "");
  return plain === "" ? fallback : plain;
}
