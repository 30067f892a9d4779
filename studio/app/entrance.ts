/** A page of Studio that somebody opens from a link, before they have an account. */
export type Entrance = "setup" | "join";

export function entranceOf(path: string): Entrance | null {
  if (/^\/studio\/setup\/?$/.test(path)) return "setup";
  return /^\/studio\/join\/?$/.test(path) ? "join" : null;
}
