import { useEffect, useState } from "react";

/** What was asked for: on its way, here, or not to be had. */
export type Loaded<T> = { state: "loading" } | { state: "loaded"; value: T } | { state: "failed"; retry: () => void };

/** Loads once for each `key`, and again on `retry`. `load` is taken as it is when the key changes. */
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
    // `load` is a new function on every render; the key says when it asks for something else.
  }, [key, attempt]);

  return loaded;
}
