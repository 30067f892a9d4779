import { DEMO, textAt } from "../live-channel/demo.ts";

// Local demo data only, as the credentials beside it.
const VIEWER = { email: "viewer@demo.example", password: "demo-viewer-pass", siteId: DEMO.clientId };
/** A token is good for ten minutes. */
const FRESH_MS = 9 * 60_000;

let kept: { token: Promise<string>; until: number } | undefined;

/** A token of the demo site's viewer, signed in anew when the last one is about to end. */
export function demoViewerToken(): Promise<string> {
  if (!kept || Date.now() > kept.until) kept = { token: signIn(), until: Date.now() + FRESH_MS };
  return kept.token.catch((error: unknown) => {
    kept = undefined;
    throw error;
  });
}

async function signIn(): Promise<string> {
  const answer = await fetch("/auth/v2/login", {
    method: "POST",
    headers: { "Content-Type": "application/json", "Tifo-Client-Id": DEMO.clientId },
    body: JSON.stringify(VIEWER),
  });
  const body: unknown = await answer.json();
  const jwt = textAt(body, "jwt");
  if (jwt === undefined) throw new Error(textAt(body, "message") ?? `The server answered ${answer.status}.`);
  return jwt;
}
