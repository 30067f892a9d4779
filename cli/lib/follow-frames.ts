import { joinChannel, type ServerFrame } from "../../sdk/channel/index.ts";
import { ok } from "../../sdk/client/index.ts";
import { EXIT, Failure } from "./failure.ts";
import { impatientRandom, type Io, jsonLine, plain } from "./io.ts";
import type { Site } from "./session.ts";

export interface FrameOptions {
  channelId: string;
  types: string[] | undefined;
  count: number;
  json: boolean;
}

// Longest text of a frame on a line for people.
const WIDTH = 160;

/** Prints frames in order until there are `count` of them, or until the user stops it. Fails if the server rejects the connection. */
export function followFrames(site: Site, { channelId, types, count, json }: FrameOptions, io: Io): Promise<void> {
  const { origin, siteId, session, client } = site;
  let left = count;
  let hasJoined = false;
  let isForbidden = false;
  /** Since the connection was last open. */
  let attempts = 0;
  return new Promise((resolve, reject) => {
    const connection = joinChannel({
      origin,
      clientId: siteId,
      channelId,
      environment: { random: impatientRandom },
      ...(session?.tokens && {
        getTicket: async () => (await ok(client.api.POST("/realtime/v1/tickets", { body: { channelId } }))).ticket,
      }),
      onFrame(frame) {
        if (left <= 0) return;
        if (frame.type === "welcome") {
          if (hasJoined && !frame.recovered) io.note("The channel's log no longer has the frames in between: the state follows in full.");
          hasJoined = true;
        }
        if (frame.type === "error") isForbidden = frame.code === "unauthenticated" || frame.code === "forbidden";
        if (types && !types.includes(frame.type)) return;
        io.out(json ? jsonLine(frame) : describe(frame, io.now()));
        left--;
        if (left <= 0) end(resolve);
      },
      onState(state, reason) {
        if (state === "live") {
          io.note(`Connected to channel ${channelId}.`);
          attempts = 0;
        } else if (state === "resuming" && attempts++ === 0) io.note("The connection is lost. Resuming.");
        else if (state === "connecting" && attempts++ === 1) io.note(`${origin} can't be reached. Retrying.`);
        if (state === "offline" && connection.isClosed()) {
          const failure = isForbidden
            ? new Failure(reason ?? "The server rejected the connection.", EXIT.unauthorized, {
                reason: "The channel is gated, and the login has no access to it.",
                fix: "Sign in with an account that has access: tifo login --email <address>.",
              })
            : new Failure(reason ?? "The server rejected the connection.", EXIT.failed, {
                reason: "The channel doesn't exist on this site, or has too many viewers.",
                fix: "Check the id, and with tifo whoami that it is the right site.",
              });
          end(() => reject(failure));
        }
      },
    });
    const stop = () => end(resolve);
    io.signal.addEventListener("abort", stop, { once: true });

    function end(settle: () => void): void {
      io.signal.removeEventListener("abort", stop);
      connection.leave();
      settle();
    }
  });
}

function describe(frame: ServerFrame, now: number): string {
  const { type, ...rest } = frame;
  const seq = "seq" in frame ? String(frame.seq) : "-";
  const text = JSON.stringify(rest);
  return plain(`${new Date(now).toISOString()}  ${seq}  ${type}  ${text.length > WIDTH ? `${text.slice(0, WIDTH - 1)}…` : text}`);
}
