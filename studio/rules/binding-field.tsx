import { Select } from "#studio/ui/select.tsx";
import { TextField } from "#studio/ui/text-field.tsx";
import type { BindingDraft } from "./draft.ts";

interface Props {
  label: string;
  value: BindingDraft;
  facts: readonly string[];
  onChange: (value: BindingDraft) => void;
  error?: string | undefined;
}

const SOURCES = [
  { value: "fixed", text: "Fixed" },
  { value: "fact", text: "From the event" },
];
const YES_NO = [
  { value: "true", text: "Yes" },
  { value: "false", text: "No" },
];

/** A value that is always the same, or read from the event. */
export function BindingField({ label, value, facts, onChange, error }: Props) {
  const change = (text: string) => onChange({ ...value, text });
  return (
    <div className="binding">
      <Select
        label={label}
        value={value.from}
        options={SOURCES}
        onChange={(from) => onChange({ ...value, from: from === "fact" ? "fact" : "fixed", text: "" })}
      />
      {value.from === "fact" ? (
        <FactSelect label={`Fact for ${label}`} value={value.text} facts={facts} onChange={change} error={error} />
      ) : value.type === "boolean" ? (
        <Select
          label={`Value of ${label}`}
          value={value.text === "true" ? "true" : "false"}
          options={YES_NO}
          onChange={change}
          error={error}
        />
      ) : (
        <TextField
          label={`Value of ${label}`}
          value={value.text}
          onChange={change}
          error={error}
          {...(value.type === "number" && { inputMode: "decimal" as const })}
        />
      )}
    </div>
  );
}

interface FactProps {
  label: string;
  value: string;
  facts: readonly string[];
  onChange: (fact: string) => void;
  error?: string | undefined;
}

/** The facts of the provider, and the chosen one even if the provider no longer declares it. */
export function FactSelect({ label, value, facts, onChange, error }: FactProps) {
  const known = value === "" || facts.includes(value) ? facts : [...facts, value];
  const options = [{ value: "", text: "Choose…" }, ...known.map((fact) => ({ value: fact, text: fact }))];
  return <Select label={label} value={value} options={options} onChange={onChange} error={error} />;
}
