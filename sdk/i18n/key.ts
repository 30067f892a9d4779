/** Marks an English text that `t` receives elsewhere, so that it is found among those to translate. */
export function key<const T extends string>(english: T): T {
  return english;
}
