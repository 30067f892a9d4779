/** A moment as the browser's date and time fields write it, in local time; empty for none. */
export function localTime(at: number | null): string {
  return at === null ? "" : new Date(at - new Date(at).getTimezoneOffset() * 60_000).toISOString().slice(0, 19);
}
