import { parse } from "parse5";
import { attribute, elements, type Element } from "./html.ts";

/** Marks a panel whose sample is in the page's `samples.json`, by its place there. */
export const LATE = "data-late";

/** The text that a copy button copies. */
const COPIED = / data-code="[^"]*"/g;

/**
 * A page without the samples in all languages but the first, which would make up a third of its weight; and their HTML. The browser loads
 * them when the reader turns to the tabs. Copy buttons get their text from the sample beside them when they are pressed.
 */
export function splitSamples(html: string): { page: string; samples: string[] } {
  const samples: string[] = [];
  let page = "";
  let end = 0;
  for (const panel of latePanels(html)) {
    const location = panel.sourceCodeLocation;
    if (!location?.startTag || !location.endTag) continue;
    const [from, to] = [location.startTag.endOffset, location.endTag.startOffset];
    // Before the ">" of the panel's own tag.
    page += `${html.slice(end, from - 1)} ${LATE}="${samples.length}">`;
    samples.push(html.slice(from, to).replaceAll(COPIED, ""));
    end = to;
  }
  return { page: samples.length > 0 ? (page + html.slice(end)).replaceAll(COPIED, "") : html, samples };
}

function latePanels(html: string): Element[] {
  const document = parse(html, { sourceCodeLocationInfo: true });
  const groups = [...elements(document)].filter(({ tagName, attrs }) => {
    return tagName === "starlight-tabs" && attrs.some(({ name, value }) => name === "data-sync-key" && value === "language");
  });
  return groups.flatMap((group) => [...elements(group)].filter((element) => attribute(element, "role") === "tabpanel").slice(1));
}
