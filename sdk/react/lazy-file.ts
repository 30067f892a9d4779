import { type ComponentType, lazy } from "react";
import { loadReleaseFile } from "./release-file.ts";

/** Loads a module: by the app's bundler. Null in the script for plain pages, which loads the release's file of the same name. */
export type ModuleLoader<Props> = (() => Promise<{ Content: ComponentType<Props> }>) | null;

/** A component whose code is loaded when it is first shown, once for each origin. After a failure, `forget` lets it be tried again. */
export function lazyFile<Props extends object>(file: string, load: ModuleLoader<Props>) {
  const loaded = new Map<string, ComponentType<Props>>();
  return {
    of(origin: string): ComponentType<Props> {
      const known = loaded.get(origin);
      if (known) return known;
      const component = lazy(async () => {
        const { Content } = await (load ? load() : loadReleaseFile<{ Content: ComponentType<Props> }>(origin, file));
        return { default: Content };
      });
      loaded.set(origin, component);
      return component;
    },
    forget: () => loaded.clear(),
  };
}
