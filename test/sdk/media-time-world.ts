import { browserEnvironment, type OverlayShow, syncToMediaTime, type ServerFrame } from "#sdk/channel/index.ts";
import { Network, VirtualTime } from "./virtual-network.ts";

/** `listen` is the host app's code, which may throw. */
export function setUp(listen: (frame: ServerFrame) => void = () => {}) {
  const time = new VirtualTime();
  const network = new Network(time, () => 0, { connect: () => null });
  const seen: { at: number; frame: ServerFrame }[] = [];
  const sync = syncToMediaTime({ ...browserEnvironment, ...network.environment() }, (frame) => {
    seen.push({ at: time.now, frame });
    listen(frame);
  });
  /** A video that is `delay` seconds behind. */
  const started = time.now;
  const player = (delay: number) => ({ mediaTime: () => (time.now - started) / 1000 - delay, playing: () => true });
  const ids = () => seen.map(({ frame }) => (frame.type === "overlay.show" ? frame.broadcastId : frame.type));
  return { time, seen, sync, player, ids, started };
}

export function goal(id: string, timecode: number | undefined, startsAt: number): OverlayShow {
  return {
    type: "overlay.show",
    seq: 1,
    upTo: 1,
    broadcastId: id,
    overlayId: "o",
    startsAt,
    endsAt: startsAt + 8_000,
    position: "center",
    contents: [],
    cta: null,
    variables: {},
    priority: 0,
    ...(timecode === undefined ? {} : { timecode }),
  };
}

/** The server's frame for broadcasts that have ended, as opposed to a requested clear. */
export function expiry(...broadcastIds: string[]): ServerFrame {
  return { type: "overlay.clear", seq: 2, upTo: 2, broadcastIds, ended: true };
}

export function welcome(overlays: OverlayShow[], now: number): ServerFrame {
  const state = { overlays, rules: [], concurrents: 1, heartbeat: 30, now };
  return { type: "welcome", epoch: "e1", seq: 9, upTo: 9, recovered: false, ...state };
}
