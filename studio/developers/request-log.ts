import type { Schemas } from "#sdk/client/index.ts";

export type LoggedRequest = Schemas["LoggedRequest"];

/** The classes that a response's status can be filtered by. */
export const STATUS_CLASSES = [
  { value: "2xx", text: "2xx Success" },
  { value: "3xx", text: "3xx Not modified" },
  { value: "4xx", text: "4xx Rejected" },
  { value: "5xx", text: "5xx Failed" },
  { value: "1xx", text: "1xx WebSocket" },
] as const;

type StatusClass = (typeof STATUS_CLASSES)[number]["value"];

/** The class that an address names, if it is one. */
export function statusClassOf(text: string | undefined): StatusClass | undefined {
  return STATUS_CLASSES.find(({ value }) => value === text)?.value;
}

/** How a status is coloured. */
export function toneOf(status: number): "success" | "rejected" | "failed" {
  return status >= 500 ? "failed" : status >= 400 ? "rejected" : "success";
}

/** Whether a request has the text in its method and route, its status, its error or its id. */
export function matchesRequest({ method, route, status, code, requestId }: LoggedRequest, text: string): boolean {
  const wanted = text.trim().toLowerCase();
  const fields = [`${method} ${route ?? ""}`, String(status), code ?? "", requestId];
  return wanted === "" || fields.some((field) => field.toLowerCase().includes(wanted));
}

/** The routes to choose from: those of the requests, and the one that is chosen. */
export function routesOf(requests: readonly LoggedRequest[], chosen: string): string[] {
  const routes = new Set(requests.flatMap(({ route }) => route ?? []));
  if (chosen !== "") routes.add(chosen);
  return [...routes].sort();
}

/** How many requests there were, and whether all of them were recorded. */
export function sampleText({ requests, share, recording }: Pick<Schemas["RequestList"], "requests" | "share" | "recording">): string {
  if (!recording) return "";
  const count = `${requests.toLocaleString("en-GB")} ${requests === 1 ? "request" : "requests"} in the last hour.`;
  if (share >= 1) return count;
  const percent = (100 * share).toLocaleString("en-GB", { maximumSignificantDigits: 2 });
  return `${count} So many that ${percent} % of them were recorded.`;
}

/** The cursor in the address of the next page. */
export function cursorOf(next: string | null): string | undefined {
  return next === null ? undefined : (new URLSearchParams(next.slice(next.indexOf("?"))).get("cursor") ?? undefined);
}
