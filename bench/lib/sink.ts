import { createServer } from "node:http";

/** A receiver of webhooks that accepts everything without reading it. */
export interface Sink {
  url: string;
  /** Requests so far. */
  received(): number;
  stop(): void;
}

export async function startSink(): Promise<Sink> {
  let received = 0;
  const server = createServer((request, response) => {
    request.resume();
    request.on("end", () => {
      received++;
      response.writeHead(204).end();
    });
  });
  await new Promise<void>((listening) => server.listen(0, "127.0.0.1", listening));
  const address = server.address();
  if (address === null || typeof address === "string") throw new Error("The receiver has no port");
  return {
    url: `http://127.0.0.1:${address.port}/`,
    received: () => received,
    stop: () => {
      server.close();
      server.closeAllConnections();
    },
  };
}
