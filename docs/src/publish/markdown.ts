import { attribute, type Element, elements, find, hasClass, isElement, isShell, lineOf, type Node, textOf } from "./html.ts";

/** The Markdown of a page's content, without what only a browser can show, such as live examples. */
export function toMarkdown(content: Element): string {
  return `${blocks(content)
    .replaceAll(/\n{3,}/g, "\n\n")
    .trim()}\n`;
}

function blocks(parent: Element): string {
  return parent.childNodes.map(block).join("");
}

function block(node: Node): string {
  if (!isElement(node)) return "value" in node && node.value.trim() !== "" ? `${node.value.trim()} ` : "";
  const source = attribute(node, "data-source");
  if (source !== undefined && hasClass(node, "diagram")) return fence("mermaid", source);
  if (isShell(node)) return "";
  switch (node.tagName) {
    case "h1":
    case "h2":
    case "h3":
    case "h4":
    case "h5":
    case "h6":
      return `\n\n${"#".repeat(Number(node.tagName.slice(1)))} ${lineOf(node)}\n\n`;
    case "p":
    case "dt":
    case "summary":
      return `\n\n${inline(node)}\n\n`;
    case "dd":
      return `\n\n${blocks(node).trim()}\n\n`;
    case "pre":
      return code(node);
    case "ul":
    case "ol":
      return `\n\n${list(node)}\n\n`;
    case "table":
      return `\n\n${table(node)}\n\n`;
    case "hr":
      return "\n\n---\n\n";
    case "blockquote":
    case "aside":
      return `\n\n${blocks(node).trim().replaceAll(/^/gm, "> ")}\n\n`;
    case "figcaption":
      return lineOf(node) === "" ? "" : `\n\n${lineOf(node)}\n\n`;
    default:
      return isInline(node) ? `${inlineNode(node)} ` : `${panelLabel(node)}${blocks(node)}`;
  }
}

const INLINE = new Set(["a", "code", "strong", "b", "em", "i", "img", "br", "kbd", "span", "time", "small", "sup", "sub"]);

function isInline({ tagName }: Element): boolean {
  return INLINE.has(tagName);
}

function inline(element: Element): string {
  return element.childNodes.map(inlineNode).join("").replaceAll(/\s+/g, " ").trim();
}

function inlineNode(node: Node): string {
  if (!isElement(node)) return "value" in node ? node.value : "";
  if (isShell(node)) return "";
  switch (node.tagName) {
    case "a":
      return `[${inline(node)}](${attribute(node, "href") ?? ""})`;
    case "code":
    case "kbd":
      return `\`${textOf(node)}\``;
    case "strong":
    case "b":
      return `**${inline(node)}**`;
    case "em":
    case "i":
      return `*${inline(node)}*`;
    case "img":
      return `![${attribute(node, "alt") ?? ""}](${attribute(node, "src") ?? ""})`;
    case "br":
      return " ";
    default:
      return node.childNodes.map(inlineNode).join("");
  }
}

function code(pre: Element): string {
  const lines = [...elements(pre)].filter((element) => hasClass(element, "ec-line"));
  const text = lines.length > 0 ? lines.map((line) => textOf(line).replace(/\n$/, "")).join("\n") : textOf(pre);
  return fence(attribute(pre, "data-language") ?? "", text);
}

function fence(language: string, text: string): string {
  return `\n\n\`\`\`${language}\n${text.replace(/\n$/, "")}\n\`\`\`\n\n`;
}

function list(element: Element): string {
  const items = element.childNodes.filter(isElement).filter(({ tagName }) => tagName === "li");
  return items
    .map((item, at) => {
      const mark = element.tagName === "ol" ? `${at + 1}. ` : "- ";
      const hasBlocks = item.childNodes.some((child) => isElement(child) && !isInline(child));
      const text = hasBlocks
        ? blocks(item)
            .replaceAll(/\n{2,}/g, "\n")
            .trim()
        : inline(item);
      return mark + text.replaceAll("\n", `\n${" ".repeat(mark.length)}`);
    })
    .join("\n");
}

function table(element: Element): string {
  const rows = [...elements(element)]
    .filter(({ tagName }) => tagName === "tr")
    .map((row) => row.childNodes.filter(isElement).map((cell) => inline(cell).replaceAll("|", "\\|")));
  const [head = [], ...body] = rows;
  return [head, head.map(() => "---"), ...body].map((cells) => `| ${cells.join(" | ")} |`).join("\n");
}

/** Starts each tab panel with the name of its tab. */
function panelLabel(element: Element): string {
  if (attribute(element, "role") !== "tabpanel") return "";
  const tabs = element.parentNode && "tagName" in element.parentNode ? element.parentNode : undefined;
  const tab = tabs && find(tabs, (one) => attribute(one, "id") === attribute(element, "aria-labelledby"));
  return tab ? `\n\n**${lineOf(tab)}**\n\n` : "";
}
