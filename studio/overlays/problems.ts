import type { SyntaxNode } from "@lezer/common";
import { parser } from "@lezer/html";
import { soleVariable } from "#worker/lib/handlebars/template.ts";

/** A part of an overlay's html that viewers won't get as it is written. */
export interface Problem {
  from: number;
  to: number;
  message: string;
}

/** How long an overlay's html may be. */
export const MAX_LENGTH = 65_536;
const MAX_PROBLEMS = 50;

/** What the frame that shows overlays removes (docs/public/overlay-frame.html). */
const REMOVED = new Set("meta base link iframe frame object embed".split(" "));
const VOID = new Set("area br col hr img input param source track wbr".split(" "));
/** Their end tags may be left out. */
const OPEN_ENDED = new Set("p li dt dd tr td th thead tbody tfoot option optgroup colgroup rt rp html head body".split(" "));
const ADDRESSES = new Set(["src", "poster", "background"]);
const NO_END = "This tag has no end: write >";
const BRACES = /\{{2,}[^{}\n]*\}*/g;

/** The problems of an overlay's html, in the order of the text. */
export function problemsOf(html: string): Problem[] {
  const problems = [...variableProblems(html), ...markupProblems(html)].sort((a, b) => a.from - b.from).slice(0, MAX_PROBLEMS);
  if (html.length <= MAX_LENGTH) return problems;
  const message = `Too long by ${number(html.length - MAX_LENGTH)} characters: at most ${number(MAX_LENGTH)}`;
  return [{ from: MAX_LENGTH, to: html.length, message }, ...problems];
}

function number(value: number): string {
  return value.toLocaleString("en");
}

/** Braces that aren't a variable are shown as they are written. */
function variableProblems(html: string): Problem[] {
  return [...html.matchAll(BRACES)]
    .filter(({ 0: text }) => soleVariable(text) === undefined)
    .map(({ 0: text, index }) => ({
      from: index,
      to: index + text.length,
      message: `${text} isn't a variable: write {{name}}, with letters, digits, “_”, “.” and “-”`,
    }));
}

function markupProblems(html: string): Problem[] {
  const problems: Problem[] = [];
  const read = (node: SyntaxNode | null): string => (node ? html.slice(node.from, node.to) : "");
  parser.parse(html).iterate({
    enter: ({ node }) => {
      const message = problemOf(node, read);
      if (message !== null) problems.push({ from: node.from, to: node.to, message });
    },
  });
  return problems;
}

type Read = (node: SyntaxNode | null) => string;

function problemOf(node: SyntaxNode, read: Read): string | null {
  switch (node.name) {
    case "OpenTag":
    case "SelfClosingTag":
    case "CloseTag":
      return node.lastChild?.type.isError ? NO_END : tagProblem(node, nameOf(node, read));
    case "MismatchedCloseTag":
      return `${read(node)} closes nothing that is open`;
    case "IncompleteTag":
    case "IncompleteCloseTag":
      // A sign of its own is text.
      return read(node) === "<" ? null : NO_END;
    case "Attribute":
      return attributeProblem(node, read);
    default:
      return null;
  }
}

function tagProblem(node: SyntaxNode, name: string): string | null {
  if (node.name === "CloseTag") return null;
  if (name === "script") return "Scripts don't run in an overlay";
  if (name === "form") return "A form can't be sent from an overlay";
  if (REMOVED.has(name)) return `<${name}> is removed before the overlay is shown`;
  const isOpen = node.name === "OpenTag" && node.parent?.getChild("CloseTag") === null;
  return isOpen && !VOID.has(name) && !OPEN_ENDED.has(name) ? `<${name}> is never closed` : null;
}

function attributeProblem(node: SyntaxNode, read: Read): string | null {
  const name = read(node.getChild("AttributeName")).toLowerCase();
  const value = read(node.getChild("AttributeValue") ?? node.getChild("UnquotedAttributeValue")).replace(/^["'\s]+/, "");
  if (/^on[a-z]+$/.test(name)) return `Scripts don't run in an overlay, so “${name}” does nothing`;
  if (name === "href" && nameOf(node.parent, read) === "a") return "Links do nothing in an overlay: give it a call to action instead";
  return ADDRESSES.has(name) && /^http:/i.test(value) ? "Only https addresses are loaded" : null;
}

function nameOf(tag: SyntaxNode | null, read: Read): string {
  return read(tag?.getChild("TagName") ?? null).toLowerCase();
}
