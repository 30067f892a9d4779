import { lazy, Suspense, useId, useRef } from "react";
import type { CodeEditorProps } from "./code-editor.tsx";

interface Props {
  label: string;
  description: string;
  value: string;
  onChange: (value: string) => void;
  error?: string | undefined;
  isReadOnly: boolean;
}

// The editor is larger than the rest of the screen.
const CodeEditor = lazy(() => import("./code-editor.tsx").catch(() => ({ default: PlainEditor })));

/** Html in a code editor, with its problems in place. */
export function CodeField({ label, description, error, ...editor }: Props) {
  const id = useId();
  const field = useRef<HTMLDivElement>(null);
  return (
    <div className="field" ref={field}>
      {/* A label's own click reaches form fields only. */}
      <span
        className="field-label"
        id={`${id}-label`}
        onClick={() => field.current?.querySelector<HTMLElement>("[contenteditable], textarea")?.focus()}
      >
        {label}
      </span>
      <Suspense fallback={<div className="code code-loading" role="status" aria-label="Loading the editor…" />}>
        <CodeEditor {...editor} labelId={`${id}-label`} descriptionId={`${id}-error ${id}-description`} isInvalid={error !== undefined} />
      </Suspense>
      <span className="field-description" id={`${id}-description`}>
        {description}
      </span>
      <span className="field-error" id={`${id}-error`}>
        {error}
      </span>
    </div>
  );
}

/** Where the editor can't be loaded, the text can still be changed. */
function PlainEditor({ value, onChange, isReadOnly, labelId, descriptionId }: CodeEditorProps) {
  return (
    <textarea
      className="field-input code-plain"
      rows={12}
      spellCheck={false}
      value={value}
      readOnly={isReadOnly}
      aria-labelledby={labelId}
      aria-describedby={descriptionId}
      onChange={({ target }) => onChange(target.value)}
    />
  );
}
