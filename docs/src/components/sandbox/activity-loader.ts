import { storedSandbox } from "./sandbox.ts";

/** Shows what happens in the reader's sandbox, on pages with samples that use it. Others load nothing for it. */
export function showActivityOfSandbox(): void {
  if (storedSandbox()) import("./activity-element.ts").then(({ showActivity }) => showActivity(storedSandbox)).catch(console.warn);
}
