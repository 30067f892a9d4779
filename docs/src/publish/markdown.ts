import { fromParse5 } from "hast-util-from-parse5";
import rehypeRemark, { type Options } from "rehype-remark";
import remarkGfm from "remark-gfm";
import remarkStringify from "remark-stringify";
import { unified } from "unified";
import { attribute, type Element, elements, find, hasClass, isElement, isShell, lineOf, type Node, textOf } from "./html.ts";

// Attributes of the page's copy that preserve for the handlers what is removed with the shell.
const CODE_TEXT = "data-code-text";
const TAB_NAME = "data-tab-name";

/** Elements that are handled like another one; a list of terms would otherwise become a bullet list. */
const WRITTEN_AS: Record<string, string> = { aside: "blockquote", dl: "div", dt: "p", dd: "div" };

type Handler = NonNullable<Options["handlers"]>[string];

/** A panel of tabs, introduced by its tab's name. */
const panelOf: Handler = (state, element) => {
  const name = element.properties.dataTabName;
  if (typeof name !== "string") return state.all(element);
  return [
    { type: "paragraph", children: [{ type: "strong", children: [{ type: "text", value: name }] }] },
    ...state.toFlow(state.all(element)),
  ];
};

const handlers: Options["handlers"] = {
  figure: (state, element) => {
    const source = element.properties.dataSource;
    return typeof source === "string" ? codeOf("mermaid", source) : state.toFlow(state.all(element));
  },
  pre: (_, element) => codeOf(String(element.properties.dataLanguage ?? ""), String(element.properties.dataCodeText ?? "")),
  div: panelOf,
  section: panelOf,
};

const processor = unified()
  .use(rehypeRemark, { handlers })
  .use(remarkGfm, { tablePipeAlign: false })
  .use(remarkStringify, { bullet: "-", rule: "-", listItemIndent: "one" });

/** The Markdown of a page's content, without what only a browser can show, such as live examples. */
export function toMarkdown(content: Element): string {
  const tree = fromParse5(withoutShell(content));
  return processor.stringify(processor.runSync({ type: "root", children: tree.type === "root" ? tree.children : [tree] }));
}

/** A copy without the shell that keeps the source of diagrams, the text of code and the names of tabs. */
function withoutShell(element: Element): Element {
  const kept = element.childNodes.filter((node) => !isElement(node) || hasClass(node, "diagram") || !isShell(node));
  const childNodes = kept.map((node): Node => (isElement(node) ? withoutShell(node) : node));
  const tagName = WRITTEN_AS[element.tagName] ?? element.tagName;
  return { ...element, tagName, childNodes, attrs: [...element.attrs, ...addedAttributes(element)] };
}

function addedAttributes(element: Element): Element["attrs"] {
  if (element.tagName === "pre") return [{ name: CODE_TEXT, value: codeText(element) }];
  const name = attribute(element, "role") === "tabpanel" ? tabName(element) : undefined;
  return name === undefined ? [] : [{ name: TAB_NAME, value: name }];
}

function codeText(pre: Element): string {
  const lines = [...elements(pre)].filter((element) => hasClass(element, "ec-line"));
  return lines.length > 0 ? lines.map((line) => textOf(line).replace(/\n$/, "")).join("\n") : textOf(pre);
}

function tabName(panel: Element): string | undefined {
  const tabs = panel.parentNode && "tagName" in panel.parentNode ? panel.parentNode : undefined;
  const tab = tabs && find(tabs, (one) => attribute(one, "id") === attribute(panel, "aria-labelledby"));
  return tab && lineOf(tab);
}

function codeOf(lang: string, text: string): { type: "code"; lang: string; value: string } {
  return { type: "code", lang, value: text.replace(/\n$/, "") };
}
