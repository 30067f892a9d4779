import { z } from "@hono/zod-openapi";
import { CHANNEL_1 } from "#db/demo/match-day.ts";
import { GOAL_TEMPLATE } from "#db/demo/overlays.ts";
import { Viewer } from "#test/browser/viewer.ts";
import type { Api } from "../api.ts";
import { differences, keepConnected, type Lane, type Outcome } from "../lane.ts";
import type { SoakServer } from "../server.ts";

const VIEWERS = 4;
/** Longer than a server is away. */
const SECONDS_ON_SCREEN = 300;

const Broadcasted = z.object({ broadcasts: z.tuple([z.object({ broadcastId: z.string(), seq: z.number() })]) });
const Receipt = z.object({ sockets: z.number(), sent: z.number() });

/** Overlays for viewers who always reconnect: everybody is shown the same, in the channel's order, without a gap. */
export class Broadcasts implements Lane {
  readonly name = "broadcasts";
  readonly pauseMs = 250;
  readonly #api: Api;
  readonly #server: SoakServer;
  readonly #viewers = Array.from({ length: VIEWERS }, () => new Viewer());
  readonly #sent: string[] = [];
  readonly #restarted: string[] = [];
  #isOver = false;

  constructor(api: Api, server: SoakServer) {
    this.#api = api;
    this.#server = server;
  }

  async prepare(): Promise<void> {
    const begin = async (viewer: Viewer, number: number): Promise<void> => {
      await viewer.connect(this.#server.current);
      const connect = async (): Promise<void> => {
        await viewer.connect(this.#server.current);
        if (!viewer.recovered) this.#restarted.push(`viewer ${number} could not resume`);
      };
      void viewer.ended.then(() => keepConnected({ connect, ended: () => viewer.ended }, () => this.#isOver));
    };
    await Promise.all(this.#viewers.map(begin));
  }

  async step(): Promise<void> {
    const response = await this.#api.request(`/overlay/v1/broadcast/${GOAL_TEMPLATE}`, { method: "POST", body: GOAL });
    // One without a response isn't repeated: the next one follows.
    if (response && response.status < 300) this.#sent.push(Broadcasted.parse(response.body).broadcasts[0].broadcastId);
  }

  async compare(): Promise<Outcome> {
    const { broadcasts } = Broadcasted.parse(
      await this.#api.succeed(`/overlay/v1/broadcast/${GOAL_TEMPLATE}`, { method: "POST", body: GOAL }),
    );
    const [{ broadcastId, seq }] = broadcasts;
    this.#sent.push(broadcastId);
    await Promise.all(this.#viewers.map((viewer) => viewer.waitForSeq(seq)));
    const receipt = Receipt.parse(await this.#api.succeed(`/overlay/v1/broadcasts/${broadcastId}/receipt`));
    const [first] = this.#viewers;
    const seqs = (viewer: Viewer | undefined): number[] => viewer?.shown.map((frame) => frame.seq) ?? [];
    const inOrder = (viewer: Viewer): boolean => seqs(viewer).every((one, index, all) => index === 0 || one > (all[index - 1] ?? 0));
    return {
      acknowledged: this.#sent.length,
      wrong: [
        ...differences(this.#sent, first?.shown.map((frame) => frame.broadcastId) ?? []),
        ...this.#viewers.flatMap((viewer, number) => (inOrder(viewer) ? [] : [`viewer ${number} was shown overlays out of order`])),
        ...this.#viewers.flatMap((viewer, number) =>
          JSON.stringify(seqs(viewer)) === JSON.stringify(seqs(first)) ? [] : [`viewer ${number} was shown others than viewer 0`],
        ),
        ...this.#restarted,
        ...(receipt.sent === receipt.sockets && receipt.sockets >= VIEWERS ? [] : [`the last receipt: ${JSON.stringify(receipt)}`]),
      ],
    };
  }

  close(): void {
    this.#isOver = true;
    for (const viewer of this.#viewers) viewer.close();
  }
}

const GOAL = { channelId: CHANNEL_1, duration: SECONDS_ON_SCREEN, variables: { scorer: "Ada Moreno", minute: 17 } };
