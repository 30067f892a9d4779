import { lateStyles } from "../../react/context.tsx";

/** Where nothing may move. */
const STILL = ['[data-placed="waiting"]', '[data-still="true"]']
  .flatMap((place) => ["", " *", " ::before", " ::after"].map((part) => `${place} .tk${part}`))
  .join(", ");

// The rules that all templates share. `u(n)` is n pixels of a stage 1280 pixels wide. Only transforms and opacity are animated.
export const BASE_CSS = `
.tk {
  --accent: var(--tifo-accent, #5a4af0); --on-accent: var(--tifo-on-accent, #fff);
  --ease: cubic-bezier(0.16, 1, 0.3, 1);
  --panel: #0b0f1a; --raised: #182033; --ink: #fff; --quiet: #b4bfd6; --hair: rgb(255 255 255 / 14%);
  position: relative; box-sizing: border-box; max-width: var(--tifo-area-width); color: var(--ink); --start: left; --end: right; text-align: var(--start);
  font: 600 u(22)/1.12 "Tifo Kit", "Barlow Condensed", "Roboto Condensed", "Arial Narrow", system-ui, sans-serif;
  font-variant-numeric: tabular-nums lining-nums; -webkit-font-smoothing: antialiased;
  animation: tk-in 460ms var(--ease) both;
}
.tk:dir(rtl) { --start: right; --end: left; }
[data-look="light"] .tk { --panel: #fff; --raised: #eef1f7; --ink: #0c1220; --quiet: #475169; --hair: rgb(12 18 32 / 12%); }
.tk *, .tk ::before, .tk ::after { box-sizing: border-box; }
.tk p { margin: 0; }
.tk-slab { max-height: var(--tifo-area-height); overflow: hidden; background: var(--panel); border-radius: u(5); }
.tk-slab, .tk-shadow { box-shadow: 0 u(2) u(4) rgb(0 0 0 / 26%), 0 u(12) u(32) rgb(0 0 0 / 30%); }
.tk-color { color: var(--on-color); background: linear-gradient(180deg, rgb(255 255 255 / 12%), rgb(0 0 0 / 14%)), var(--color); }
.tk-label { overflow: hidden; overflow: clip visible; font-size: u(20); font-weight: 600; letter-spacing: .06em; line-height: 1.15; text-transform: uppercase; }
.tk-quiet { color: var(--quiet); }
.tk-strong { font-weight: 700; }
.tk-text { display: -webkit-box; min-width: 0; overflow: hidden; font-size: calc(var(--size) * var(--fit, 1)); -webkit-box-orient: vertical; -webkit-line-clamp: var(--lines, 1); overflow-wrap: anywhere; text-overflow: ellipsis; unicode-bidi: plaintext; }
.tk p[style*="--lines"] { margin-block: min(-2px, -.1em); padding-block: max(2px, .1em); }
.tk-text:not([style*="--lines"]) { display: block; overflow: clip visible; white-space: nowrap; }
.tk .tk-text.tk-tall { line-height: normal; letter-spacing: normal; }
.tk:dir(rtl) .tk-label { letter-spacing: normal; }
.tk-bar { transform-origin: var(--origin, left) center; animation: tk-grow 520ms var(--ease) both; }
.tk:dir(rtl) .tk-bar { --origin: right; }
.tk-rise { animation: tk-rise 520ms var(--ease) calc(140ms + var(--i, 0) * 70ms) both; }
.tk-flip { display: inline-block; animation: tk-flip 420ms var(--ease) both; }
.tk-crest { display: grid; flex: none; place-items: center; width: var(--crest); height: var(--crest); overflow: hidden; border-radius: 22%; font-size: calc(var(--crest) * .44); font-weight: 700; line-height: 1; }
.tk-crest img { width: 100%; height: 100%; object-fit: contain; }
.tk-crest[data-image] { background: none; border-radius: 0; }
@media (forced-colors: active) { .tk-crest { forced-color-adjust: none; } }
.tk-close { position: absolute; z-index: 1; top: 0; display: grid; place-items: center; width: max(24px, u(32)); height: max(24px, u(32)); inset-inline-end: 0; padding: 0; border: 0; border-radius: u(5); color: var(--on-color, inherit); background: none; cursor: pointer; opacity: .72; pointer-events: auto; }
.tk-close svg { width: max(10px, u(13)); height: max(10px, u(13)); }
.tk-close:is(:hover, :focus-visible) { opacity: 1; background: rgb(127 137 160 / 30%); }
.tk :focus-visible { outline: max(2px, u(3)) solid currentcolor; outline-offset: max(-3px, u(-3)); box-shadow: none; }
.tk .tk-room { padding-inline-end: max(28px, u(40)); }
.tk-row { display: flex; align-items: center; min-width: 0; }
.tk-grow { flex: 1; min-width: 0; }
.tifo-overlay-leaving .tk { animation: tk-out 260ms cubic-bezier(.5, 0, .9, .4) both; }
${STILL} { animation: none !important; transition: none !important; }
@keyframes tk-in { from { opacity: 0; transform: translateY(u(30)) scale(.985); } }
@keyframes tk-out { to { opacity: 0; transform: translateY(u(22)) scale(.985); } }
@keyframes tk-grow { from { transform: scaleX(0); } }
@keyframes tk-rise { from { opacity: 0; transform: translateY(.7em); } }
@keyframes tk-flip { from { opacity: 0; transform: translateY(60%) scale(.9); } }
@media (prefers-reduced-motion: reduce) { .tk, .tk *, .tk ::before, .tk ::after { animation: none !important; transition: none !important; } }
`;

const adopted = new Set<string>();

/** Adds rules to the document once. Constructed style sheets work under any content security policy. */
export function adoptStyles(name: string, css: string): void {
  if (adopted.has(name)) return;
  const sheet = new CSSStyleSheet();
  sheet.replaceSync(withUnits(css));
  adopted.add(name);
  lateStyles.add(sheet);
}

export function withUnits(css: string): string {
  return css.replace(/\bu\((-?[\d.]+)\)/g, "calc($1 * var(--tifo-unit))");
}
