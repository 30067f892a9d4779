import { once } from "node:events";
import { connect, createServer, type Server, type Socket } from "node:net";

/** What lies between viewers and a server, and can be cut as networks are: without a word to either end. */
export class Wire {
  readonly url: string;
  readonly #server: Server;
  readonly #open: Set<Socket>;

  private constructor(server: Server, open: Set<Socket>, port: number) {
    this.url = `http://127.0.0.1:${port}`;
    this.#server = server;
    this.#open = open;
  }

  /** Leads to this port of the machine, whether or not somebody listens there. */
  static async to(port: number): Promise<Wire> {
    const open = new Set<Socket>();
    const server = createServer((viewer) => {
      const far = connect(port, "127.0.0.1");
      open.add(viewer);
      for (const [end, other] of [
        [viewer, far],
        [far, viewer],
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
    if (typeof address !== "object" || address === null) throw new Error("It listens on no port");
    return new Wire(server, open, address.port);
  }

  /** Cuts this share of the connections. */
  cut(share: number): void {
    for (const viewer of this.#open) if (Math.random() < share) viewer.destroy();
  }

  close(): void {
    this.cut(1);
    this.#server.close();
  }
}
