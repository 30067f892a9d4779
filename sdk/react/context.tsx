import { createContext, type ReactNode, use, useSyncExternalStore } from "react";
import { type Surroundings, surroundingsOf } from "../core/surroundings.ts";
import type { UserSettings } from "../model/configuration.ts";
import type { TifoEventViewModel } from "../model/event-interface.ts";
import type { TifoEventState } from "../model/state.ts";

const SurroundingsContext = createContext<Surroundings | null>(null);

/** Gives components the event that they show: what `userDidStartWatchingEvent` answered. Throws `TypeError` for any other. */
export function TifoEventProvider({ event, children }: { event: TifoEventViewModel; children?: ReactNode }) {
  return <SurroundingsContext value={surroundingsOf(event)}>{children}</SurroundingsContext>;
}

export function useSurroundings(): Surroundings {
  const surroundings = use(SurroundingsContext);
  if (!surroundings) throw new Error("Tifo: this component stands outside of a TifoEventProvider");
  return surroundings;
}

/** The event's state, anew after every change. */
export function useEventState(): TifoEventState {
  const { event } = useSurroundings();
  return useSyncExternalStore(event.subscribe, event.getSnapshot, event.getSnapshot);
}

export function useSettings(): UserSettings {
  const { settings } = useSurroundings();
  return useSyncExternalStore(settings.subscribe, settings.getSnapshot, settings.getSnapshot);
}
