/** A page of Studio that somebody opens from a link, before they are signed in. */
export type Entrance = "setup" | "join" | "reset";

const PATH = /^\/studio\/(setup|join|reset)\/?$/;

export function entranceOf(path: string): Entrance | null {
  const [, name] = PATH.exec(path) ?? [];
  return name === "setup" || name === "join" || name === "reset" ? name : null;
}
