import { once } from "node:events";
import { connect, createServer, type Server, type Socket } from "node:net";

/** A TCP proxy between viewers and a server that can drop connections without notice, as networks do. */
export class Wire {
  readonly url: string;
  readonly #server: Server;
  readonly #open: Set<Socket>;

  private constructor(server: Server, open: Set<Socket>, port: number) {
    this.url = `http://127.0.0.1:${port}`;
    this.#server = server;
    this.#open = open;
  }

  /** Connects to this local port, whether or not a server is listening. */
  static async to(port: number): Promise<Wire> {
    const open = new Set<Socket>();
    const server = createServer((viewer) => {
      const upstream = connect(port, "127.0.0.1");
      open.add(viewer);
      for (const [end, other] of [
        [viewer, upstream],
        [upstream, viewer],
      ] as const) {
        end.pipe(other);
        end.on("error", () => other.destroy());
        end.on("close", () => other.destroy());
      }
      viewer.on("close", () => open.delete(viewer));
    });
    server.listen(0, "127.0.0.1");
    await once(server, "listening");
    const address = server.address();
    if (typeof address !== "object" || address === null) throw new Error("The proxy isn't listening on a port");
    return new Wire(server, open, address.port);
  }

  /** Drops this share of the connections. */
  cut(share: number): void {
    for (const viewer of this.#open) if (Math.random() < share) viewer.destroy();
  }

  close(): void {
    this.cut(1);
    this.#server.close();
  }
}
