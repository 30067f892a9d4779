import { once } from "node:events";
import { createServer } from "node:http";
import { text } from "node:stream/consumers";
import { receive } from "#test/stripe-stand-in.ts";

/** The stand-in for Stripe as a server of its own, which outlives Tifo's. Its state is that of `stripe` in this process. */
export async function serveStripe(): Promise<{ url: string; close: () => void }> {
  const server = createServer((request, response) => {
    const respond = async (): Promise<void> => {
      const headers = new Headers(
        Object.entries(request.headers).flatMap(([name, value]) => (typeof value === "string" ? [[name, value]] : [])),
      );
      const answer = await receive(new URL(request.url ?? "/", "http://stripe"), {
        method: request.method ?? "GET",
        headers,
        body: await text(request),
      });
      response.writeHead(answer.status, Object.fromEntries(answer.headers)).end(await answer.text());
    };
    respond().catch(() => response.destroy());
  });
  server.listen(0, "127.0.0.1");
  await once(server, "listening");
  const address = server.address();
  if (address === null || typeof address === "string") throw new Error("The stand-in for Stripe isn't listening on a port");
  const close = (): void => {
    server.close();
    server.closeAllConnections();
  };
  return { url: `http://127.0.0.1:${address.port}`, close };
}
