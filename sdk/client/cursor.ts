interface Page {
  pagination: { next: string | null };
}

/** The cursor in the link to a list's next page; undefined on the last one. */
export function cursorOf({ pagination: { next } }: Page): string | undefined {
  return next === null ? undefined : (new URLSearchParams(next.slice(next.indexOf("?"))).get("cursor") ?? undefined);
}
