import { useState } from "react";
import { Select } from "#studio/ui/select.tsx";
import { TextField } from "#studio/ui/text-field.tsx";
import type { Variables } from "./model.ts";
import { parseValue, type VariableField } from "./variables.ts";

interface Props {
  fields: readonly VariableField[];
  onChange: (name: string, value: Variables[string]) => void;
}

/** A field for each variable of an overlay, of the type of its value. */
export function VariableFields({ fields, onChange }: Props) {
  if (fields.length === 0) return null;
  return (
    <fieldset className="variable-fields">
      <legend>Variables</legend>
      {fields.map((field) => (
        <Variable key={field.name} field={field} onChange={(value) => onChange(field.name, value)} />
      ))}
    </fieldset>
  );
}

const YES_NO = [
  { value: "true", text: "Yes" },
  { value: "false", text: "No" },
];

function Variable({ field: { name, value }, onChange }: { field: VariableField; onChange: (value: Variables[string]) => void }) {
  // What was typed, while it isn't a number yet.
  const [unfinished, setUnfinished] = useState<string | null>(null);
  if (typeof value === "boolean")
    return <Select label={name} value={String(value)} options={YES_NO} onChange={(text) => onChange(text === "true")} />;
  const change = (text: string): void => {
    const parsed = parseValue(text, value);
    setUnfinished(parsed === undefined || String(parsed) !== text ? text : null);
    if (parsed !== undefined) onChange(parsed);
  };
  const isNumber = typeof value === "number";
  return (
    <TextField
      label={name}
      value={unfinished ?? String(value)}
      onChange={change}
      {...(isNumber && { inputMode: "decimal" as const })}
      error={isNumber && unfinished !== null && parseValue(unfinished, value) === undefined ? "A number" : undefined}
    />
  );
}
