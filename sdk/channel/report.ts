/** Tells the page of an error in the host's own code, which must not end ours. */
export function report(error: unknown): void {
  if (typeof reportError === "function") reportError(error);
  else console.error(error);
}
