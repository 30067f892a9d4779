import type { UserSettings } from "../model/configuration.ts";
import type { TifoEventViewModel } from "../model/event-interface.ts";
import type { WatchedEvent } from "./event.ts";
import type { Session } from "./session.ts";
import type { Store } from "./store.ts";

/** What components need to render an event. */
export interface SdkContext {
  event: WatchedEvent;
  session: Session;
  settings: Store<UserSettings>;
}

const contexts = new WeakMap<TifoEventViewModel, SdkContext>();

/** Registers an event's context, so that components need only its view model. */
export function registerSdkContext(context: SdkContext): void {
  contexts.set(context.event, context);
}

/** Throws `TypeError` for a view model that `userDidStartWatchingEvent` didn't return. */
export function sdkContextOf(event: TifoEventViewModel): SdkContext {
  const context = contexts.get(event);
  if (!context) throw new TypeError("Tifo: the event wasn't returned by userDidStartWatchingEvent");
  return context;
}
