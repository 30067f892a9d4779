import { type CSSProperties, type ReactNode, useEffect, useState } from "react";
import type { Translate } from "../../i18n/texts.ts";
import { formatColor, parseColor, textOn } from "../../core/contrast.ts";

interface FrameProps {
  piece: string;
  /** The region's name for screen readers. */
  name: string;
  /** The colour below the close button, if that isn't the panel's. */
  top?: CSSProperties | undefined;
  onDismiss: () => void;
  t: Translate;
  children: ReactNode;
}

/** The root of a template, with the button that hides it. */
export function Frame({ piece, name, top, onDismiss, t, children }: FrameProps) {
  return (
    <section className={`tk tk-${piece}`} aria-label={name} dir="auto">
      {children}
      <button type="button" className="tk-close" aria-label={t("Hide overlay")} style={top} onClick={onDismiss}>
        <svg viewBox="0 0 12 12" aria-hidden="true" fill="none" stroke="currentColor" strokeWidth="2" strokeLinecap="round">
          <path d="M1 1 11 11M11 1 1 11" />
        </svg>
      </button>
    </section>
  );
}

interface TextProps {
  children: string | number;
  /** Font size in units of the stage. */
  size: number;
  /** Characters that fit on a line at that size; longer texts shrink first. */
  fits: number;
  /** Lines on which it may wrap before it ends in an ellipsis. */
  lines?: number;
  className?: string;
  /** Its place in the staggered entrance. */
  order?: number;
}

const SMALLEST = 0.66;

/**
 * Letters that are higher or deeper than a line of Latin ones, or have marks above each other: from combining marks and Hebrew to the
 * scripts of South and South East Asia, and Vietnamese. Their lines are as high as their typeface asks for, and joined ones stay joined.
 */
const TALL = /[\u0300-\u036f\u0590-\u1cff\u1e00-\u1eff\ufb1d-\ufdff\ufe70-\ufefc]/;

/** Text that shrinks, then wraps, then ends in an ellipsis. Without measuring, so it costs no layout. */
export function Text({ children, size, fits, lines = 1, className = "", order }: TextProps) {
  const text = String(children);
  const { length } = text;
  const fit = Math.max(SMALLEST, Math.min(1, fits / Math.max(1, length)));
  const style: CSSProperties = { "--size": `calc(${size} * var(--tifo-unit))`, "--fit": fit };
  if (lines > 1) style["--lines"] = lines;
  if (order !== undefined) style["--i"] = order;
  return (
    <p className={`tk-text ${TALL.test(text) ? "tk-tall" : ""} ${order === undefined ? "" : "tk-rise"} ${className}`} style={style}>
      {text}
    </p>
  );
}

/** A value that flips when it changes; it doesn't on entrance, where its surroundings move. */
export function Changing({ value }: { value: string | number }) {
  const [first] = useState(value);
  const [changed, setChanged] = useState(false);
  if (!changed && value !== first) setChanged(true);
  return (
    <span key={value} className={changed ? "tk-flip" : ""}>
      {value}
    </span>
  );
}

/** `--color` and a readable `--on-color`; without a colour, those of the theme. */
export function colors(color: string | undefined): CSSProperties {
  if (color === undefined) return { "--color": "var(--accent)", "--on-color": "var(--on-accent)" };
  return { "--color": color, "--on-color": formatColor(textOn(parseColor(color))) };
}

interface CrestProps {
  name: string | undefined;
  color?: string | undefined;
  /** Absolute. */
  image?: string | undefined;
  /** In units of the stage. */
  size: number;
}

/** A team's crest, or its initials on its colour. */
export function Crest({ name = "", color, image, size }: CrestProps) {
  const [failed, setFailed] = useState(false);
  const style = { ...colors(color), "--crest": `calc(${size} * var(--tifo-unit))` };
  if (image !== undefined && !failed)
    return (
      <span className="tk-crest" data-image style={style}>
        <img src={image} alt="" onError={() => setFailed(true)} />
      </span>
    );
  return (
    <span className="tk-crest tk-color" style={style} aria-hidden="true">
      {initialsOf(name)}
    </span>
  );
}

export function initialsOf(name: string): string {
  const words = name.trim().split(/\s+/);
  return words
    .slice(0, 2)
    .map((word) => [...word][0] ?? "")
    .join("")
    .toLocaleUpperCase();
}

/** `67` becomes `67′`; text stays as it is. */
export function momentOf(moment: string | number): string {
  return typeof moment === "number" || /^\d+(\+\d+)?$/.test(moment) ? `${moment}′` : moment;
}

/** The shortest time in ms between two renderings of a fast clock. */
const SHORTEST_TICK_MS = 100;

/** Renders again at every full second of a clock, which may run faster than time. */
export function useSeconds(now: () => number, speed = 1): number {
  const [at, setAt] = useState(now);
  const tick = Math.max(SHORTEST_TICK_MS, 1000 / speed);
  useEffect(() => {
    let timer: ReturnType<typeof setTimeout>;
    // Not after a rendering: none follows while the clock stands still, as that of a paused recording does.
    const wait = () => {
      timer = setTimeout(
        () => {
          setAt(now());
          wait();
        },
        tick - (now() % tick),
      );
    };
    wait();
    return () => clearTimeout(timer);
  }, [now, tick]);
  return at;
}

export const twoDigits = (value: number) => String(value).padStart(2, "0");

declare module "react" {
  interface CSSProperties {
    [variable: `--${string}`]: string | number | undefined;
  }
}
