import { createHash } from "node:crypto";
import { renderMermaidSVG } from "beautiful-mermaid";

const KINDS = /^\s*(flowchart|graph|sequenceDiagram|stateDiagram)/;
const STYLE = /<style>[\s\S]*?<\/style>/g;
const IDS = /(id="|url\(#)((?:arrowhead|seq-arrow)[\w-]*)/g;
const DECIMALS = /(\d+\.\d)\d+/g;
const SIZE = / width="([\d.]+)" height="([\d.]+)"/;
/** A shadow at each side on which there is more to see. Here, because few pages have a diagram. */
const SHADOWS = `background:${[
  "linear-gradient(to right,var(--sl-color-bg) 40%,#0000) left/2.5rem 100% no-repeat local",
  "linear-gradient(to left,var(--sl-color-bg) 40%,#0000) right/2.5rem 100% no-repeat local",
  "linear-gradient(to right,#8884,#0000) left/.875rem 100% no-repeat",
  "linear-gradient(to left,#8884,#0000) right/.875rem 100% no-repeat",
].join(",")}`;
const PARTICIPANT = /^\s*(?:participant|actor)\s+(\w+)(?:\s+as\s+(.+))?$/gm;
const MESSAGE = /^\s*(\w+)\s*-+(?:>>|>|x|\))\s*(\w+)\s*:\s*(.+)$/;
/** An arrow of a flowchart, between two boxes that may name themselves. */
const ARROW = /^\s*(\w+)(?:\[([^\]]+)\])?\s+-+>\s*(?:\|([^|]+)\|)?\s+(\w+)(?:\[([^\]]+)\])?\s*$/;
const NOTE = /^\s*Note\s[^:]+:\s*(.+)$/;
/** The smallest text, in pixels, however narrow the window is: a wide diagram scrolls instead of shrinking. */
const SMALLEST_TEXT = 13;

/**
 * Renders a flowchart, sequence or state diagram as SVG in the site's colours, with one file for both themes.
 * @param caption the accessible description of the diagram
 * @throws Error if the text is no such diagram, or if nothing in it is connected: the parser reads `A-->B` as one box
 */
export function drawDiagram(source: string, caption: string): string {
  if (!KINDS.test(source))
    throw new Error(`A diagram must be a flowchart, a sequence or a state diagram, not: ${source.split("\n", 1).join()}`);
  const svg = renderMermaidSVG(source, { bg: "var(--sl-color-bg)", fg: "var(--sl-color-white)", transparent: true, padding: 8 });
  if (!/class="(edge|message)"/.test(svg))
    throw new Error(`Nothing is connected in this diagram. Arrows need spaces around them:\n${source}`);
  const prefix = `d${createHash("sha256").update(source).digest("hex").slice(0, 6)}-`;
  const drawing = svg
    .replace(' xmlns="http://www.w3.org/2000/svg"', ` role="img" aria-label="${escape(caption)}"`)
    // Its styles would apply to the whole page and fetch an external font; styles/site.css has the styles that it needs.
    .replaceAll(STYLE, "")
    .replaceAll(IDS, `$1${prefix}$2`)
    .replace(SIZE, scaled(svg))
    .replaceAll(DECIMALS, "$1")
    .replaceAll(/>\s+</g, "><");
  const narrow = source.trimStart().startsWith("sequenceDiagram") ? stepsOf(source) : arrowsOf(source);
  return `<figure class="diagram not-content" data-source="${escape(source)}"><div role="group" aria-label="Diagram" tabindex="0" style="${SHADOWS}">${drawing}</div>${narrow}</figure>`;
}

/** The messages of a sequence diagram as a list, which narrow windows show instead of it. */
function stepsOf(source: string): string {
  const names = new Map([...source.matchAll(PARTICIPANT)].map(([, id = "", name = id]) => [id, name.trim()]));
  const steps = source.split("\n").flatMap((line) => {
    const [, note] = NOTE.exec(line) ?? [];
    if (note !== undefined) return `<li>${escape(note)}</li>`;
    const [, from = "", to = "", text = ""] = MESSAGE.exec(line) ?? [];
    return from === "" ? [] : [entry(names, from, to, text)];
  });
  return `<ol>${steps.join("")}</ol>`;
}

/** The arrows of a flowchart as a list, for narrow windows: empty for a diagram that has something besides plain boxes and arrows. */
function arrowsOf(source: string): string {
  const names = new Map<string, string>();
  const arrows: [from: string, to: string, text: string][] = [];
  for (const line of source.split("\n").slice(1)) {
    if (line.trim() === "") continue;
    const [, from, fromName, text = "", to, toName] = ARROW.exec(line) ?? [];
    if (from === undefined || to === undefined) return "";
    if (fromName !== undefined) names.set(from, fromName);
    if (toName !== undefined) names.set(to, toName);
    arrows.push([from, to, text]);
  }
  return `<ul>${arrows.map((arrow) => entry(names, ...arrow)).join("")}</ul>`;
}

function entry(names: ReadonlyMap<string, string>, from: string, to: string, text: string): string {
  const nameOf = (id: string): string => escape(names.get(id) ?? id);
  const label = text === "" ? "" : `: ${escape(text)}`;
  return `<li><b>${nameOf(from)}${from === to ? "" : ` → ${nameOf(to)}`}</b>${label}</li>`;
}

/** Width and height at which the smallest text has its size. */
function scaled(svg: string): string {
  const smallest = Math.min(SMALLEST_TEXT, ...[...svg.matchAll(/font-size="([\d.]+)"/g)].map(([, size]) => Number(size)));
  const [, width, height] = SIZE.exec(svg) ?? [];
  const factor = SMALLEST_TEXT / smallest;
  return ` width="${Math.ceil(Number(width) * factor)}" height="${Math.ceil(Number(height) * factor)}"`;
}

function escape(text: string): string {
  return text.replaceAll("&", "&amp;").replaceAll('"', "&quot;").replaceAll("<", "&lt;").replaceAll("\n", "&#10;");
}
