import type { UserSettings } from "../model/configuration.ts";
import { readStored, writeStored } from "./storage.ts";
import { createStore, type Store } from "./store.ts";

const KEY = "tifo.userSettings";
const TEXT_SCALE = { min: 0.8, max: 1.6 };

/** The viewer's settings, kept for the next visit. */
export function userSettings(): Store<UserSettings> {
  const store = createStore(readSettings(readStored(KEY)));
  store.subscribe(() => writeStored(KEY, JSON.stringify(store.getSnapshot())));
  return store;
}

/** The settings with the changes applied; the text scale is clamped to its bounds. */
export function changedSettings(settings: UserSettings, changes: Partial<UserSettings>): UserSettings {
  const { overlays, reducedMotion, textScale } = { ...settings, ...changes };
  return { overlays, reducedMotion, textScale: Math.min(TEXT_SCALE.max, Math.max(TEXT_SCALE.min, textScale)) };
}

function defaults(): UserSettings {
  const reducedMotion = typeof matchMedia !== "undefined" && matchMedia("(prefers-reduced-motion: reduce)").matches;
  return { overlays: true, reducedMotion, textScale: 1 };
}

/** Ignores unknown settings and wrong types, which other versions may have written. */
function readSettings(text: string | null): UserSettings {
  const settings = defaults();
  const stored = parsed(text);
  const { overlays, reducedMotion, textScale } = stored;
  return changedSettings(settings, {
    ...(typeof overlays === "boolean" && { overlays }),
    ...(typeof reducedMotion === "boolean" && { reducedMotion }),
    ...(typeof textScale === "number" && { textScale }),
  });
}

function parsed(text: string | null): Record<string, unknown> {
  try {
    const value: unknown = JSON.parse(text ?? "{}");
    return typeof value === "object" && value !== null ? { ...value } : {};
  } catch {
    return {};
  }
}
