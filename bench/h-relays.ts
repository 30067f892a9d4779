import { type Broadcaster, bareObject, ourChannel, HttpChannel, Publisher } from "./lib/fan-out.ts";
import { ask } from "./lib/http.ts";
import { timeToLast } from "./lib/last-viewer.ts";
import { milliseconds, ratioText, type Result } from "./lib/report.ts";
import { runRounds, ratio, typical } from "./lib/rounds.ts";
import { Crowd } from "./lib/viewers.ts";

const ROOM = "room";
const HTML_BYTES = 200;
const CELL = "time to last";

interface Tiers extends Broadcaster {
  /** 0 for the object that holds the sockets itself. */
  relays: number;
}

/** H: the same viewers on one object, and behind a channel with several relays. On one core, the second tier can only add cost. */
export async function relays(quick: boolean): Promise<Result> {
  const viewers = quick ? 400 : 2_000;
  const tiers = async (count: number): Promise<Tiers> => ({
    ...(await ourChannel(`Tifo, ${count} relay${count === 1 ? "" : "s"}`, Math.ceil((viewers / count) * 1.4))),
    relays: count,
  });
  const bare: Tiers = { ...(await bareObject()), relays: 0 };
  const ours = [await tiers(4), await tiers(8), await tiers(1)] as const;
  const rounds = await runRounds<Tiers>({
    contenders: [...ours, bare],
    rounds: quick ? 1 : 5,
    measure: async (server, contender) => {
      if (contender.relays > 1) await ask(server.port, "POST", `/relays?room=${ROOM}&n=${contender.relays}`);
      const crowd = new Crowd(HTML_BYTES);
      const paths = Array.from({ length: viewers }, (_, viewer) => contender.connectPath(ROOM, viewer));
      await crowd.connect(server.port, paths, 64, "opened");
      const publisher = new Publisher(new HttpChannel(server.port, ROOM));
      const reading = await timeToLast({ server, crowd, publisher, bytes: HTML_BYTES, broadcasts: quick ? 8 : 25 });
      publisher.close();
      crowd.leave();
      return [{ cell: CELL, ...reading }];
    },
  });
  const rows = ours.map(({ name }) => [
    name,
    milliseconds(typical(rounds, CELL, name)),
    milliseconds(typical(rounds, CELL, bare.name)),
    ratioText(ratio(rounds, CELL, name, bare.name, "lower"), { goal: 0.9, floor: 0.8 }),
  ]);
  return { columns: [`${viewers} sockets`, "time to last", "bare object", "against bare object"], rows };
}
