import { createContext, use, useSyncExternalStore } from "react";
import type { RenderContext } from "../core/core.ts";
import type { WatchedEvent } from "../core/event.ts";
import type { UserSettings } from "../model/configuration.ts";
import type { TifoEventState } from "../model/state.ts";

export interface Surroundings extends RenderContext {
  event: WatchedEvent;
}

const SurroundingsContext = createContext<Surroundings | null>(null);

/** Gives components the event that they show. */
export const TifoProvider = SurroundingsContext.Provider;

export function useSurroundings(): Surroundings {
  const surroundings = use(SurroundingsContext);
  if (!surroundings) throw new Error("Tifo: this component stands outside of renderPanel and renderOverlay");
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
