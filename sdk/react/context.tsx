import { createContext, type ReactNode, use, useSyncExternalStore } from "react";
import { type SdkContext, sdkContextOf } from "../core/sdk-context.ts";
import type { UserSettings } from "../model/configuration.ts";
import type { TifoEventViewModel } from "../model/event-interface.ts";
import type { TifoEventState } from "../model/state.ts";

const SdkReactContext = createContext<SdkContext | null>(null);

/** Gives components the event that they show: what `userDidStartWatchingEvent` answered. Throws `TypeError` for any other. */
export function TifoEventProvider({ event, children }: { event: TifoEventViewModel; children?: ReactNode }) {
  return <SdkReactContext value={sdkContextOf(event)}>{children}</SdkReactContext>;
}

export function useSdkContext(): SdkContext {
  const surroundings = use(SdkReactContext);
  if (!surroundings) throw new Error("Tifo: this component stands outside of a TifoEventProvider");
  return surroundings;
}

/**
 * The event's state, anew after every change; with `select`, a part of it, anew only when that is another: a value, or an object of the
 * state, which keeps its identity until it changes.
 */
export function useEventState(): TifoEventState;
export function useEventState<T>(select: (state: TifoEventState) => T): T;
export function useEventState<T>(select?: (state: TifoEventState) => T): T | TifoEventState {
  const { event } = useSdkContext();
  const read = () => (select ? select(event.getSnapshot()) : event.getSnapshot());
  return useSyncExternalStore(event.subscribe, read, read);
}

export function useSettings(): UserSettings {
  const { settings } = useSdkContext();
  return useSyncExternalStore(settings.subscribe, settings.getSnapshot, settings.getSnapshot);
}
