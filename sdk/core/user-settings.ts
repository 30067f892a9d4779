import type { UserSettings } from "../model/configuration.ts";
import { readStored, writeStored } from "./storage.ts";
import { createStore, type Store } from "./store.ts";

const KEY = "tifo.userSettings";
const TEXT_SCALE = { least: 0.8, most: 1.6 };

/** What the viewer chose, kept for the next visit. */
export function userSettings(): Store<UserSettings> {
  const store = createStore(readSettings(readStored(KEY)));
  store.subscribe(() => writeStored(KEY, JSON.stringify(store.getSnapshot())));
  return store;
}

/** The settings with the changes that make sense; the text scale is held within its bounds. */
export function changedSettings(settings: UserSettings, changes: Partial<UserSettings>): UserSettings {
  const { overlays, reducedMotion, textScale } = { ...settings, ...changes };
  return { overlays, reducedMotion, textScale: Math.min(TEXT_SCALE.most, Math.max(TEXT_SCALE.least, textScale)) };
}

function defaults(): UserSettings {
  const reducedMotion = typeof matchMedia !== "undefined" && matchMedia("(prefers-reduced-motion: reduce)").matches;
  return { overlays: true, reducedMotion, textScale: 1 };
}

/** Whatever is no setting, or of the wrong type, is left out: other versions may have written it. */
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
