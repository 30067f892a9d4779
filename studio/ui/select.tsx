import { type ReactNode, type Ref, useId } from "react";
import "./field.css";
import "./select.css";

export interface SelectProps {
  label: string;
  value: string;
  onChange: (value: string) => void;
  options: readonly { value: string; text: string }[];
  description?: ReactNode;
  error?: string | undefined;
  isRequired?: boolean;
  isDisabled?: boolean;
  onBlur?: () => void;
  selectRef?: Ref<HTMLSelectElement>;
  /** The choice of none, if there is one. */
  empty?: string;
  /** The options aren't known yet. */
  isLoading?: boolean;
}

/** What is shown for a value that isn't among the options: it may be beyond the list, or what it names may have been deleted. */
export function unlisted(value: string, isLoading = false): string {
  return isLoading ? "Loading…" : `Not in the list: ${value}`;
}

/** The platform's own list: it opens as a wheel on tablets, and needs no script. */
export function Select({
  label,
  value,
  onChange,
  options,
  description,
  error,
  isRequired,
  isDisabled,
  onBlur,
  selectRef,
  empty,
  isLoading,
}: SelectProps) {
  const id = useId();
  const described = [description !== undefined && `${id}-description`, error !== undefined && `${id}-error`].filter(Boolean).join(" ");
  return (
    <div className="field">
      <label className="field-label" htmlFor={id}>
        {label}
      </label>
      <select
        id={id}
        ref={selectRef}
        className="field-input select"
        value={value}
        onChange={(event) => onChange(event.target.value)}
        onBlur={onBlur}
        required={isRequired}
        disabled={isDisabled}
        aria-invalid={error !== undefined}
        aria-describedby={described === "" ? undefined : described}
        data-invalid={error !== undefined || undefined}
      >
        {empty !== undefined && <option value="">{empty}</option>}
        {options.map((option) => (
          <option key={option.value} value={option.value}>
            {option.text}
          </option>
        ))}
        {value !== "" && !options.some((option) => option.value === value) && <option value={value}>{unlisted(value, isLoading)}</option>}
      </select>
      {description !== undefined && (
        <span className="field-description" id={`${id}-description`}>
          {description}
        </span>
      )}
      {error !== undefined && (
        <span className="field-error" id={`${id}-error`}>
          {error}
        </span>
      )}
    </div>
  );
}
