import { createServer, type IncomingMessage, type Server } from "node:http";
import { z } from "@hono/zod-openapi";

const Broadcasts = z.array(z.looseObject({}));

/** A Node.js server that accepts broadcasts over HTTP, like the Workers, and passes their texts on. */
export function createPeer(publish: (room: string, body: string) => void): Server {
  let seq = 0;
  return createServer((request, response) => {
    void readBroadcasts(request).then((broadcasts) => {
      for (const broadcast of broadcasts) {
        seq++;
        publish(roomOf(request), JSON.stringify({ type: "overlay.show", seq, upTo: seq, ...broadcast }));
      }
      response.end("sent");
    });
  });
}

export function roomOf(request: IncomingMessage): string {
  return new URL(request.url ?? "", "http://peer").searchParams.get("room") ?? "";
}

/** Listens on a free port and reports it to the parent process. */
export function listen(server: Server): void {
  server.listen(0, "127.0.0.1", 4096, () => {
    const address = server.address();
    if (address !== null && typeof address === "object") process.send?.(address.port);
  });
}

async function readBroadcasts(request: IncomingMessage): Promise<z.output<typeof Broadcasts>> {
  let text = "";
  for await (const chunk of request.setEncoding("utf8")) text += String(chunk);
  return Broadcasts.parse(JSON.parse(text));
}
