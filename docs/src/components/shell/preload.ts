interface Connection {
  saveData?: boolean;
  effectiveType?: string;
}

/** Whether the reader's connection is metered or slow. */
export function isSlow({ saveData = false, effectiveType = "" }: Connection): boolean {
  return saveData || effectiveType.includes("2g");
}

/** Disables page preloading on slow or metered connections. */
export function disablePreloadOnSlowConnections(): void {
  const connection: unknown = Reflect.get(navigator, "connection");
  if (typeof connection !== "object" || connection === null || !isSlow(connection)) return;
  for (const link of document.querySelectorAll("a")) link.dataset["astroPrefetch"] = "false";
}
