import { type ReactNode, useState } from "react";
import { parsedUrl } from "../../core/web-address.ts";
import { useSdkContext, useTexts } from "../context.tsx";
import type { Loaded } from "../use-loaded.ts";

/** A line that explains why there is nothing to show. */
export function Note({ children }: { children: ReactNode }) {
  return <p className="tifo-note">{children}</p>;
}

interface LoadedProps<T> {
  loaded: Loaded<T>;
  children: (value: T) => ReactNode;
}

/** The loaded value, a loading message, or an error with a retry button. */
export function WhenLoaded<T>({ loaded, children }: LoadedProps<T>) {
  const { t } = useTexts();
  if (loaded.state === "loaded") return children(loaded.value);
  if (loaded.state === "loading") return <p className="tifo-note tifo-loading">{t("Loading…")}</p>;
  return (
    <div className="tifo-note" role="alert">
      <p>{t("This couldn’t be loaded.")}</p>
      <button type="button" className="tifo-button" onClick={loaded.retry}>
        {t("Try again")}
      </button>
    </div>
  );
}

interface SiteImageProps {
  /** An absolute URL, or a path of the deployment, such as `/media/v1/…`. */
  src: string | null | undefined;
  /** Empty if the adjacent text describes the image. */
  alt?: string;
  className?: string;
}

/** An image that the site provides; nothing without a URL, or if it can't be loaded. */
export function SiteImage({ src, alt = "", className }: SiteImageProps) {
  const { session } = useSdkContext();
  const [failed, setFailed] = useState<string | null>(null);
  const url = parsedUrl(src, session.origin);
  if (!src || !url || url.href === failed) return null;
  return <img src={url.href} alt={alt} className={className} loading="lazy" onError={() => setFailed(url.href)} />;
}

interface ExternalLinkProps {
  href: string;
  children: ReactNode;
  /** Whether it is what the viewer is meant to do next. */
  isButton?: boolean;
}

/** A link to another site, in a new tab. */
export function ExternalLink({ href, children, isButton = false }: ExternalLinkProps) {
  return (
    <a className={isButton ? "tifo-button" : "tifo-link"} href={href} target="_blank" rel="noopener noreferrer">
      {children}
    </a>
  );
}

/** A time in the viewer's locale and time zone. `at` in ms since 1970 UTC. */
export function Time({ at, style = "full" }: { at: number; style?: "full" | "time" }) {
  const { locale } = useTexts();
  const format = new Intl.DateTimeFormat(locale, style === "full" ? { dateStyle: "medium", timeStyle: "short" } : { timeStyle: "short" });
  return <time dateTime={new Date(at).toISOString()}>{format.format(at)}</time>;
}
