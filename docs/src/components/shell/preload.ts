interface Connection {
  saveData?: boolean;
  effectiveType?: string;
}

/** Whether a reader pays for every byte, or waits for it. */
export function isSlow({ saveData = false, effectiveType = "" }: Connection): boolean {
  return saveData || effectiveType.includes("2g");
}

/** Takes the preloading of pages back on connections that are slow or counted. */
export function spareSlowConnections(): void {
  const connection: unknown = Reflect.get(navigator, "connection");
  if (typeof connection !== "object" || connection === null || !isSlow(connection)) return;
  for (const link of document.querySelectorAll("a")) link.dataset["astroPrefetch"] = "false";
}
