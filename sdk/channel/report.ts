/** Calls the host app's code. An exception is reported to the page and yields undefined, so that it can't break the SDK. */
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
