import { cssLanguage } from "@codemirror/lang-css";
import { bracketMatchingHandle, HighlightStyle, indentNodeProp, LRLanguage, syntaxHighlighting } from "@codemirror/language";
import { Decoration, EditorView, MatchDecorator, ViewPlugin, type ViewUpdate } from "@codemirror/view";
import { tags } from "@lezer/highlight";
import { configureNesting, parser } from "@lezer/html";

/**
 * Html with css in it. Scripts aren't parsed, because they don't run in an overlay: their parser would be a quarter of the editor
 * (@codemirror/lang-html always has it).
 */
export const overlayHtml = LRLanguage.define({
  name: "html",
  parser: parser.configure({
    props: [
      indentNodeProp.add({
        Element: (context) => {
          const [start = "", , end] = /^(\s*)(<\/)?/.exec(context.textAfter) ?? [];
          if (context.node.to <= context.pos + start.length) return context.continue();
          return context.lineIndent(context.node.from) + (end === undefined ? context.unit : 0);
        },
        "OpenTag CloseTag SelfClosingTag": (context) => context.column(context.node.from) + context.unit,
      }),
      bracketMatchingHandle.add({ "OpenTag CloseTag": (node) => node.getChild("TagName") }),
    ],
    wrap: configureNesting(
      [{ tag: "style", parser: cssLanguage.parser }],
      [{ name: "style", parser: cssLanguage.parser.configure({ top: "Styles" }) }],
    ),
  }),
  languageData: { commentTokens: { block: { open: "<!--", close: "-->" } } },
});

const style = HighlightStyle.define([
  { tag: [tags.tagName, tags.angleBracket, tags.propertyName, tags.keyword], color: "var(--accent-text)" },
  { tag: [tags.attributeName, tags.className, tags.labelName, tags.number, tags.unit], color: "var(--warning)" },
  { tag: [tags.attributeValue, tags.string, tags.color], color: "var(--success)" },
  { tag: [tags.comment, tags.documentMeta, tags.processingInstruction], color: "var(--text-soft)", fontStyle: "italic" },
]);

const variables = new MatchDecorator({
  regexp: /\{\{\{?\s*[A-Za-z_][\w.-]*\s*\}?\}\}/g,
  decoration: Decoration.mark({ class: "cm-variable" }),
});

/** The colours of the text, in both themes. */
export const colours = [
  syntaxHighlighting(style),
  ViewPlugin.define(
    (view) => ({
      decorations: variables.createDeco(view),
      update(update: ViewUpdate) {
        this.decorations = variables.updateDeco(update, this.decorations);
      },
    }),
    { decorations: ({ decorations }) => decorations },
  ),
  EditorView.theme({
    "&": { maxHeight: "28rem", borderRadius: "inherit", color: "var(--text)", fontSize: "0.8125rem" },
    "&.cm-focused": { outline: "none" },
    ".cm-scroller": { minHeight: "14rem", fontFamily: "var(--mono)", lineHeight: "1.5", overflow: "auto", scrollbarWidth: "thin" },
    ".cm-content": { padding: "0.625rem 0", caretColor: "var(--text)" },
    ".cm-gutters": { border: "0", borderStartStartRadius: "inherit", background: "transparent", color: "var(--text-soft)" },
    ".cm-activeLine, .cm-activeLineGutter": { background: "transparent" },
    "&.cm-focused .cm-activeLine": { background: "var(--tint)" },
    ".cm-content ::selection, .cm-line::selection": { background: "color-mix(in srgb, var(--accent) 35%, transparent)" },
    ".cm-variable, .cm-variable *": { color: "var(--text)", fontWeight: "600" },
    ".cm-variable": { borderRadius: "3px", background: "var(--tint)" },
    "&.cm-focused .cm-matchingBracket, &.cm-focused .cm-nonmatchingBracket": { background: "none", textDecoration: "underline" },
    ".cm-lintRange-warning": {
      backgroundImage: "none",
      textDecoration: "underline wavy var(--warning) 1px",
      textUnderlineOffset: "3px",
      textDecorationSkipInk: "none",
    },
    ".cm-tooltip": { border: "1px solid var(--line)", borderRadius: "var(--radius-s)", background: "var(--raised)", color: "var(--text)" },
    ".cm-diagnostic-warning": { borderColor: "var(--warning)" },
  }),
];
