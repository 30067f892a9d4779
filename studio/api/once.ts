import type { Middleware } from "openapi-fetch";
import { PressKeys } from "#sdk/client/press-keys.ts";
import { problemOf } from "#sdk/client/problem.ts";

/**
 * For a request that creates something: `client.api.POST("/overlay/v1", { body, ...once })`. If its answer is lost, saving the same again
 * creates one. Not for what is done to something that exists, such as clearing a channel: the same again may be meant as such.
 */
export const once: { middleware: Middleware[] } = { middleware: [sendOnce()] };

function sendOnce(): Middleware {
  const keys = new PressKeys();
  const pending = new Map<string, string>();
  const end = (id: string, error?: unknown): void => {
    const sent = pending.get(id);
    if (sent !== undefined) keys.ended(sent, error);
    pending.delete(id);
  };
  return {
    async onRequest({ request, id }) {
      const sent = `${request.url} ${await request.clone().text()}`;
      pending.set(id, sent);
      request.headers.set("Idempotency-Key", keys.keyOf(sent).key);
    },
    async onResponse({ response, id }) {
      end(id, response.ok ? undefined : await problemOf(response.clone()));
    },
    onError({ error, id }) {
      end(id, error);
    },
  };
}
