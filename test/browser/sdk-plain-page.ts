import { createServer } from "node:http";
import { once } from "node:events";

/** A page of another origin than the deployment's, whose markup a test sets. */
export interface PlainPage {
  url: string;
  show(html: string): void;
  close(): void;
}

export async function servePlainPage(): Promise<PlainPage> {
  let page = "";
  const server = createServer((_request, response) => response.setHeader("Content-Type", "text/html; charset=utf-8").end(page));
  server.listen(0, "127.0.0.1");
  await once(server, "listening");
  const address = server.address();
  if (typeof address !== "object" || address === null) throw new Error("The page's server listens on no port");
  return {
    url: `http://127.0.0.1:${address.port}/`,
    show(html) {
      page = html;
    },
    close: () => void server.close(),
  };
}
