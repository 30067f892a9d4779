/** Calls the host's code. Its failure is told to the page and ends nothing of ours: undefined then. */
export function safely<T>(call: () => T): T | undefined {
  try {
    return call();
  } catch (error) {
    report(error);
    return undefined;
  }
}

export function report(error: unknown): void {
  if (typeof reportError === "function") reportError(error);
  else console.error(error);
}
