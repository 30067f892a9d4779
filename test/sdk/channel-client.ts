import { type ChannelConnection, joinChannel, type ServerFrame } from "#sdk/channel/index.ts";
import { FakeChannel } from "./fake-channel.ts";
import { seededRandom, Network, VirtualTime } from "./virtual-network.ts";

const ADDRESS = { origin: "https://tifo.example", clientId: "5eed00000000000000000001", channelId: "5eed0000000000000000c001" };

interface Client {
  connection: ChannelConnection;
  states: string[];
  reasons: (string | undefined)[];
  welcomes: Extract<ServerFrame, { type: "welcome" }>[];
  seqs: number[];
}

/** A server, and a network in virtual time over which clients join it. */
export function setUp(seed = 1) {
  const time = new VirtualTime();
  const random = seededRandom(seed);
  const server = new FakeChannel();
  const network = new Network(time, random, server);
  const beat = () => {
    server.beat();
    time.after(10_000, beat);
  };
  beat();
  function join(options: Partial<Parameters<typeof joinChannel>[0]> = {}): Client {
    const client: Omit<Client, "connection"> = { states: [], reasons: [], welcomes: [], seqs: [] };
    const connection = joinChannel({
      ...ADDRESS,
      environment: network.environment(),
      onState: (state, reason) => {
        client.states.push(state);
        client.reasons.push(reason);
      },
      onFrame: (frame) => {
        if (frame.type === "welcome") client.welcomes.push(frame);
        if (frame.type === "overlay.clear") client.seqs.push(frame.seq);
      },
      ...options,
    });
    return { connection, ...client };
  }
  return { time, random, server, network, join };
}
