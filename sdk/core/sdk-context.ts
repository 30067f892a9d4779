import type { UserSettings } from "../model/configuration.ts";
import type { TifoEventViewModel } from "../model/event-interface.ts";
import type { WatchedEvent } from "./event.ts";
import type { Session } from "./session.ts";
import type { Store } from "./store.ts";

/** What an event is drawn with. */
export interface SdkContext {
  event: WatchedEvent;
  session: Session;
  settings: Store<UserSettings>;
}

const known = new WeakMap<TifoEventViewModel, SdkContext>();

/** Keeps what an event is drawn with, so that its view model is all that components need. */
export function registerSdkContext(surroundings: SdkContext): void {
  known.set(surroundings.event, surroundings);
}

/** Throws `TypeError` for a view model that did not come from `userDidStartWatchingEvent`. */
export function sdkContextOf(event: TifoEventViewModel): SdkContext {
  const surroundings = known.get(event);
  if (!surroundings) throw new TypeError("Tifo: the event is not one of userDidStartWatchingEvent");
  return surroundings;
}
