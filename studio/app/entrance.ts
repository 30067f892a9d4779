/** A page of Studio that somebody opens from a link, before they are signed in. */
export type Entrance = "setup" | "join" | "reset" | "reset-global" | "intent";

const PATH = /^\/studio\/(setup|join|reset|reset-global)\/?$/;

export function entranceOf({ pathname, searchParams }: Pick<URL, "pathname" | "searchParams">): Entrance | null {
  const [, name] = PATH.exec(pathname) ?? [];
  if (name === "setup" || name === "join" || name === "reset" || name === "reset-global") return name;
  // A magic link, or a partner's page, leads to any address of Studio.
  return searchParams.has("intent") ? "intent" : null;
}

/** The address without what signs somebody in, which works once and is of no further use in the history. */
export function withoutIntent(address: URL): string {
  const left = new URL(address);
  left.searchParams.delete("intent");
  return left.pathname + left.search + left.hash;
}
