import { useEffect, useState } from "react";

/** The state of a request. */
export type Loaded<T> = { state: "loading" } | { state: "loaded"; value: T } | { state: "failed"; retry: () => void };

/** Loads once per `key`, and again on `retry`, with the `load` function of that render. */
export function useLoaded<T>(key: string, load: () => Promise<T>): Loaded<T> {
  const [attempt, setAttempt] = useState(0);
  const [loaded, setLoaded] = useState<Loaded<T>>({ state: "loading" });

  useEffect(() => {
    let current = true;
    setLoaded({ state: "loading" });
    load().then(
      (value) => current && setLoaded({ state: "loaded", value }),
      () => current && setLoaded({ state: "failed", retry: () => setAttempt((count) => count + 1) }),
    );
    return () => {
      current = false;
    };
    // `load` is a new function on every render; the key changes when it loads something else.
  }, [key, attempt]);

  return loaded;
}
