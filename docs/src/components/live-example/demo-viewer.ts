import { DEMO, textAt } from "../live-channel/demo.ts";

// Exists only in local demo data, like the other credentials.
const VIEWER = { email: "viewer@demo.example", password: "demo-viewer-pass", siteId: DEMO.clientId };
/** A token is valid for 10 minutes. */
const FRESH_MS = 9 * 60_000;

let kept: { token: Promise<string>; until: number } | undefined;

/** A token of the demo viewer; signs in again before the last token expires. */
export function demoViewerToken(): Promise<string> {
  if (!kept || Date.now() > kept.until) kept = { token: signIn(), until: Date.now() + FRESH_MS };
  return kept.token.catch((error: unknown) => {
    kept = undefined;
    throw error;
  });
}

async function signIn(): Promise<string> {
  const response = await fetch("/auth/v2/login", {
    method: "POST",
    headers: { "Content-Type": "application/json", "Tifo-Client-Id": DEMO.clientId },
    body: JSON.stringify(VIEWER),
  });
  const body: unknown = await response.json();
  const jwt = textAt(body, "jwt");
  if (jwt === undefined) throw new Error(textAt(body, "message") ?? `The server returned ${response.status}.`);
  return jwt;
}
