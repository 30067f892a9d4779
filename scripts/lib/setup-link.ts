import { setTimeout as sleep } from "node:timers/promises";
import { z } from "@hono/zod-openapi";

const SetupLink = z.object({ url: z.string() });
/** The address of a first deployment takes some seconds until it responds. */
const ATTEMPTS = 10;
const GAP_MS = 3_000;

/** Creates the deployment's setup link, or resolves to undefined if the deployment can't be reached yet. */
export async function createSetupLink(
  deployment: string,
  superKey: string,
  { send = fetch, gapMs = GAP_MS }: { send?: typeof fetch; gapMs?: number } = {},
): Promise<string | undefined> {
  if (!URL.canParse(deployment)) return undefined;
  for (let attempt = 1; attempt <= ATTEMPTS; attempt++) {
    const link = await tryOnce(deployment, superKey, send);
    if (link !== undefined) return link;
    if (attempt < ATTEMPTS) await sleep(gapMs);
  }
  return undefined;
}

async function tryOnce(deployment: string, superKey: string, send: typeof fetch): Promise<string | undefined> {
  try {
    const headers = { "Tifo-Super-Key": superKey, "Content-Type": "application/json" };
    // A redirect would send the key to another host.
    const init: RequestInit = { method: "POST", headers, body: "{}", redirect: "error" };
    const response = await send(`${deployment}/site/v1/setup-link`, init);
    if (response.status !== 201) return undefined;
    return SetupLink.parse(await response.json()).url;
  } catch {
    return undefined;
  }
}
