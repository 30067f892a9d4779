import { createHmac } from "node:crypto";
import { problemOf, TifoProblem } from "../../sdk/client/problem.ts";
import { withRetries } from "../../sdk/client/retry.ts";
import type { Io } from "./io.ts";
import { isRecord } from "./json.ts";
import { withoutRedirects } from "./session.ts";

export interface Provider {
  origin: string;
  siteId: string;
  providerId: string;
  secret: string;
}

/** Tifo's id of an event, and what was done. */
export interface ReceivedEvent {
  eventId: string;
  message: string;
}

/** Sends an event as a data provider. Events with the same id count once. */
export async function sendSigned(provider: Provider, eventId: string, event: Record<string, unknown>, io: Io): Promise<ReceivedEvent> {
  const { origin, siteId, providerId, secret } = provider;
  const body = JSON.stringify(event);
  const timestamp = String(Math.floor(io.now() / 1000));
  const headers = {
    "Content-Type": "application/json",
    "Tifo-Client-Id": siteId,
    "Tifo-Event-Id": eventId,
    "Tifo-Timestamp": timestamp,
    "Tifo-Signature": createHmac("sha256", secret).update(`${timestamp}.${body}`).digest("hex"),
  };
  const send = withRetries(withoutRedirects(io), { sleep: (milliseconds) => io.sleep(milliseconds) });
  const request = new Request(`${origin}/dataprovider/v1/${providerId}/events`, { method: "POST", headers, body, signal: io.signal });
  const response = await send(request).catch((cause: unknown) => {
    throw new TifoProblem({ status: 0, code: "network", message: "The server can't be reached" }, { cause });
  });
  if (!response.ok) throw await problemOf(response);
  const received: unknown = await response.json();
  return { eventId: fieldOf(received, "eventId"), message: fieldOf(received, "message") };
}

function fieldOf(value: unknown, name: string): string {
  const field = isRecord(value) ? value[name] : undefined;
  return typeof field === "string" ? field : "";
}

/** The secret of a provider, from the environment or the terminal. */
export async function providerSecret(io: Io): Promise<string | undefined> {
  const secret = io.env.TIFO_PROVIDER_SECRET;
  if (secret) return secret;
  return io.interactive ? (await io.askSecret("Secret of the data provider: ")).trim() : undefined;
}
