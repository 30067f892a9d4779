import { defineMdastPlugin } from "satteri";
import { drawDiagram } from "../src/diagrams/mermaid.ts";

const CAPTION = /caption="([^"]*)"/;

/** Renders ```mermaid fences at build time. Their `caption="…"` is the accessible description; the default is "Diagram". */
export const diagrams = defineMdastPlugin({
  name: "tifo-diagrams",
  code(node, { sourceFormat }) {
    if (node.lang !== "mermaid") return undefined;
    const html = drawDiagram(node.value, CAPTION.exec(node.meta ?? "")?.[1] ?? "Diagram");
    if (sourceFormat === "markdown") return { type: "html", value: html };
    return {
      type: "mdxJsxFlowElement",
      name: "Fragment",
      attributes: [{ type: "mdxJsxAttribute", name: "set:html", value: html }],
      children: [],
    };
  },
});
