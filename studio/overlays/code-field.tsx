import { useId, useRef } from "react";
import { highlighted } from "./highlight.ts";

interface Props {
  label: string;
  description: string;
  value: string;
  onChange: (value: string) => void;
  error?: string | undefined;
  maxLength: number;
  isReadOnly: boolean;
}

/**
 * A text area over its own text in colours: undo, selection, input methods and screen readers are the browser's own. A code editor's library
 * would be larger than everything else on this screen together.
 */
export function CodeField({ label, description, value, onChange, error, maxLength, isReadOnly }: Props) {
  const id = useId();
  const colours = useRef<HTMLPreElement>(null);
  return (
    <div className="field">
      <label className="field-label" htmlFor={id}>
        {label}
      </label>
      <div className="code" data-invalid={error !== undefined}>
        <pre ref={colours} className="code-colours" aria-hidden="true">
          {highlighted(value).map(({ kind, text }, index) => (
            <span key={index} className={`code-${kind}`}>
              {text}
            </span>
          ))}
          {"\n"}
        </pre>
        <textarea
          id={id}
          className="code-input"
          value={value}
          readOnly={isReadOnly}
          maxLength={maxLength}
          spellCheck={false}
          autoCapitalize="off"
          autoComplete="off"
          wrap="soft"
          aria-describedby={`${id}-description`}
          aria-invalid={error !== undefined}
          onChange={({ target }) => onChange(target.value)}
          onScroll={({ currentTarget }) => {
            if (colours.current) colours.current.scrollTop = currentTarget.scrollTop;
          }}
        />
      </div>
      <span className="field-description" id={`${id}-description`}>
        {description}
      </span>
      {error !== undefined && <span className="field-error">{error}</span>}
    </div>
  );
}
