import type { ReactNode } from "react";
import { parsedUrl } from "../../core/web-address.ts";
import { useSdkContext } from "../context.tsx";
import type { Loaded } from "../use-loaded.ts";

/** A line that says why there is nothing to see. */
export function Note({ children }: { children: ReactNode }) {
  return <p className="tifo-note">{children}</p>;
}

interface LoadedProps<T> {
  loaded: Loaded<T>;
  children: (value: T) => ReactNode;
}

/** What was loaded, or that it is on its way, or that it failed with a way to try again. */
export function WhenLoaded<T>({ loaded, children }: LoadedProps<T>) {
  if (loaded.state === "loaded") return children(loaded.value);
  if (loaded.state === "loading") return <p className="tifo-note tifo-loading">Loading…</p>;
  return (
    <div className="tifo-note" role="alert">
      <p>This could not be loaded.</p>
      <button type="button" className="tifo-button" onClick={loaded.retry}>
        Try again
      </button>
    </div>
  );
}

interface SiteImageProps {
  /** The web's address, or a path of the deployment, such as `/media/v1/…`. */
  src: string | null | undefined;
  /** Empty: the words beside it say it all. */
  alt?: string;
  className?: string;
}

/** A picture of whoever runs the site; none where there is no address. */
export function SiteImage({ src, alt = "", className }: SiteImageProps) {
  const { session } = useSdkContext();
  const url = parsedUrl(src, session.origin);
  if (!src || !url) return null;
  return <img src={url.href} alt={alt} className={className} loading="lazy" />;
}

/** A link to another site, in a tab of its own. */
export function ExternalLink({ href, children }: { href: string; children: ReactNode }) {
  return (
    <a className="tifo-link" href={href} target="_blank" rel="noopener noreferrer">
      {children}
    </a>
  );
}

/** A moment in the viewer's own words and time zone. `at` in ms since 1970 UTC. */
export function Time({ at, style = "full" }: { at: number; style?: "full" | "time" }) {
  const format = new Intl.DateTimeFormat(
    undefined,
    style === "full" ? { dateStyle: "medium", timeStyle: "short" } : { timeStyle: "short" },
  );
  return <time dateTime={new Date(at).toISOString()}>{format.format(at)}</time>;
}

/** Minutes and seconds. */
export function duration(seconds: number): string {
  const whole = Math.max(0, Math.floor(seconds));
  return `${Math.floor(whole / 60)}:${String(whole % 60).padStart(2, "0")}`;
}
