import { createServer, type IncomingMessage, type ServerResponse } from "node:http";

// An HTTP service on the loopback address that stands in for one that tests can't call.

export interface LocalService {
  url: string;
  stop(): Promise<void>;
}

type Handle = (request: IncomingMessage, response: ServerResponse) => Promise<void>;

/** Starts a service on a port, any free one by default. A handler that throws returns this status. */
export async function startLocalService(handle: Handle, { port = 0, failure = 500 } = {}): Promise<LocalService> {
  const server = createServer((request, response) => {
    handle(request, response).catch((error: unknown) => sendJson(response, failure, { error: String(error) }));
  });
  await new Promise<void>((resolve) => server.listen(port, "127.0.0.1", resolve));
  const address = server.address();
  if (address === null || typeof address === "string") throw new Error("The service isn't listening on a port");
  return {
    url: `http://127.0.0.1:${address.port}`,
    stop: () =>
      new Promise((resolve) => {
        server.close(() => resolve());
        server.closeAllConnections();
      }),
  };
}

export function sendJson(response: ServerResponse, status: number, body?: unknown): void {
  response.writeHead(status, { "Content-Type": "application/json" }).end(body === undefined ? undefined : JSON.stringify(body));
}

export async function readText(request: IncomingMessage): Promise<string> {
  let text = "";
  for await (const chunk of request.setEncoding("utf8")) text += String(chunk);
  return text;
}
