import { defaultKeymap, history, historyKeymap } from "@codemirror/commands";
import { bracketMatching, indentOnInput } from "@codemirror/language";
import { linter } from "@codemirror/lint";
import { Annotation, Compartment, EditorState, type Extension } from "@codemirror/state";
import { EditorView, highlightActiveLine, keymap, lineNumbers } from "@codemirror/view";
import { useEffect, useRef, useState } from "react";
import { colours, overlayHtml } from "./code-language.ts";
import { ProblemList, type PlacedProblem } from "./problem-list.tsx";
import { problemsOf } from "./problems.ts";

export interface CodeEditorProps {
  /** Of the elements that name and describe it. */
  labelId: string;
  descriptionId: string;
  value: string;
  onChange: (value: string) => void;
  isInvalid: boolean;
  isReadOnly: boolean;
}

/** While somebody types, a tag isn't finished yet. */
const LINT_DELAY_MS = 500;
const fromOutside = Annotation.define<true>();

/** A code editor for html. Tab isn't bound, so that it leaves the editor. */
export default function CodeEditor(props: CodeEditorProps) {
  const { value, isInvalid, isReadOnly, labelId, descriptionId } = props;
  const place = useRef<HTMLDivElement>(null);
  const view = useRef<EditorView>(null);
  const first = useRef(value);
  const callback = useRef(props.onChange);
  /** Texts of the editor that haven't come back as the value yet, after the one that has. */
  const sent = useRef([value]);
  const [attributes] = useState(() => new Compartment());
  const [problems, setProblems] = useState<PlacedProblem[]>([]);

  useEffect(() => {
    callback.current = props.onChange;
  }, [props.onChange]);

  useEffect(() => {
    if (!place.current) return;
    const changed = EditorView.updateListener.of(({ docChanged, transactions, state }) => {
      if (!docChanged) return;
      const text = state.doc.toString();
      first.current = text;
      if (transactions.some((transaction) => transaction.annotation(fromOutside))) return;
      sent.current.push(text);
      callback.current(text);
    });
    const created = new EditorView({
      parent: place.current,
      state: EditorState.create({ doc: first.current, extensions: [...extensions, lint(setProblems), attributes.of([]), changed] }),
    });
    view.current = created;
    return () => created.destroy();
  }, [attributes]);

  useEffect(() => {
    const own = [
      EditorState.readOnly.of(isReadOnly),
      EditorView.contentAttributes.of({
        "aria-labelledby": labelId,
        "aria-describedby": descriptionId,
        "aria-invalid": String(isInvalid),
        "aria-readonly": String(isReadOnly),
      }),
    ];
    view.current?.dispatch({ effects: attributes.reconfigure(own) });
  }, [attributes, isReadOnly, isInvalid, labelId, descriptionId]);

  useEffect(() => {
    const at = sent.current.lastIndexOf(value);
    sent.current = at < 0 ? [value] : sent.current.slice(at);
    if (at >= 0 || !view.current) return;
    const { length } = view.current.state.doc;
    view.current.dispatch({ changes: { from: 0, to: length, insert: value }, annotations: fromOutside.of(true) });
  }, [value]);

  const show = ({ from, to }: PlacedProblem): void => {
    const { length } = view.current?.state.doc ?? { length: 0 };
    const selection = { anchor: Math.min(from, length), head: Math.min(to, length) };
    view.current?.dispatch({ selection, scrollIntoView: true });
    view.current?.focus();
  };

  return (
    <>
      <div ref={place} className="code" data-invalid={isInvalid} />
      <ProblemList problems={problems} onShow={show} />
    </>
  );
}

const extensions: Extension[] = [
  lineNumbers(),
  highlightActiveLine(),
  history(),
  bracketMatching(),
  indentOnInput(),
  EditorView.lineWrapping,
  keymap.of([...defaultKeymap, ...historyKeymap]),
  overlayHtml,
  colours,
];

function lint(onFound: (problems: PlacedProblem[]) => void): Extension {
  return linter(
    ({ state }) => {
      const problems = problemsOf(state.doc.toString());
      onFound(problems.map((problem) => ({ ...problem, line: state.doc.lineAt(problem.from).number })));
      return problems.map((problem) => ({ ...problem, severity: "warning" as const }));
    },
    { delay: LINT_DELAY_MS },
  );
}
