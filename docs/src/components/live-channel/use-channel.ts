import { useEffect, useReducer } from "react";
import { joinChannel } from "../../../../sdk/channel/index.ts";
import { recall, remember } from "../../storage.ts";
import { EMPTY_VIEW, endsAt, nextView } from "./channel-view.ts";
import type { ChannelView } from "./channel-view.ts";
import { DEMO } from "./demo.ts";

const DEVICE_KEY = "tifo-device-id";

/** This browser's device id, made at the first visit. */
function deviceId(): string {
  const known = recall(DEVICE_KEY);
  if (known !== null) return known;
  const made = Array.from(crypto.getRandomValues(new Uint8Array(12)), (byte) => byte.toString(16).padStart(2, "0")).join("");
  remember(DEVICE_KEY, made);
  return made;
}

/** Joins the demo channel while `joined`, and answers what there is to show. */
export function useChannel(joined: boolean): ChannelView {
  const [view, dispatch] = useReducer(nextView, EMPTY_VIEW);

  useEffect(() => {
    if (!joined) return undefined;
    const channel = joinChannel({
      origin: location.origin,
      clientId: DEMO.clientId,
      channelId: DEMO.channelId,
      deviceId: deviceId(),
      onState: (state, reason) => dispatch({ kind: "connection", state, reason }),
      onFrame: (frame) => dispatch({ kind: "frame", frame, at: Date.now() }),
      onSent: (frame) => dispatch({ kind: "sent", frame, at: Date.now() }),
    });
    return () => channel.leave();
  }, [joined]);

  const nextEnd = Math.min(...view.overlays.map((overlay) => endsAt(view, overlay)));
  useEffect(() => {
    if (nextEnd === Infinity) return undefined;
    const timer = setTimeout(() => dispatch({ kind: "tick", at: Date.now() }), Math.min(nextEnd - Date.now(), 2 ** 31 - 1));
    return () => clearTimeout(timer);
  }, [nextEnd]);

  return view;
}
