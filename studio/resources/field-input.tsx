import type { ComponentProps } from "react";
import { type Control, type FieldValues, useController, useFieldArray, useWatch } from "react-hook-form";
import type { Field } from "#studio/api/fields.ts";
import { toForm } from "#studio/api/form-values.ts";
import { Button } from "#studio/ui/button.tsx";
import { ColorField } from "#studio/ui/color-field.tsx";
import { Select } from "#studio/ui/select.tsx";
import { Switch } from "#studio/ui/switch.tsx";
import { TextField } from "#studio/ui/text-field.tsx";
import { knownValues } from "./known-values.ts";
import { ChosenReferenceInput, ReferenceInput, ReferencesInput } from "./reference-input.tsx";
import { problemWith } from "./validation.ts";
import "./field-input.css";

interface Props<Kind extends Field = Field> {
  field: Kind;
  /** The field's name in the form, for example "contents.0.html". */
  name: string;
  control: Control<FieldValues>;
  isDisabled: boolean;
}

/** Inputs for a list of fields. */
export function FieldInputs({ fields, prefix, ...rest }: Omit<Props, "field" | "name"> & { fields: readonly Field[]; prefix?: string }) {
  return fields.map((field) => (
    <FieldInput key={field.name} field={field} name={prefix === undefined ? field.name : `${prefix}.${field.name}`} {...rest} />
  ));
}

function FieldInput({ field, ...props }: Props) {
  switch (field.kind) {
    case "group":
      return <Group field={field} {...props} />;
    case "variant":
      return <Variant field={field} {...props} />;
    case "list":
      return <List field={field} {...props} />;
    default:
      return <Single field={field} {...props} />;
  }
}

function Single({ field, name, control, isDisabled }: Props) {
  const controller = useController({ control, name, rules: { validate: (value: unknown) => problemWith(field, value) ?? true } });
  const value: unknown = controller.field.value;
  const text = typeof value === "string" ? value : "";
  const error = controller.fieldState.error && (controller.fieldState.error.message ?? "This value isn't valid.");
  const { onChange, onBlur, ref } = controller.field;
  const { label, description, required } = field;
  const common = { label, description, error, isDisabled, onChange, onBlur };
  switch (field.kind) {
    case "switch":
      return <Switch {...common} isSelected={value === true} />;
    case "choice":
      return (
        <Select
          {...common}
          value={text}
          selectRef={ref}
          isRequired={required}
          options={[{ value: "", text: required ? "Choose…" : "–" }, ...field.options]}
        />
      );
    case "reference":
      return <ReferenceInput {...common} value={text} to={field.to} isRequired={required} selectRef={ref} />;
    case "chosenReference":
      return (
        <ChosenReference
          {...common}
          value={text}
          isRequired={required}
          selectRef={ref}
          control={control}
          by={`${name.slice(0, name.lastIndexOf(".") + 1)}${field.by}`}
        />
      );
    case "references":
      return <ReferencesInput {...common} value={text} to={field.to} />;
    case "json":
      return <TextField {...common} value={text} rows={6} isRequired={required} description={description ?? "JSON"} />;
    case "texts":
      return <TextField {...common} value={text} rows={3} isRequired={required} description={onePerLine(description)} />;
    case "time":
      return <TextField {...common} value={text} type="datetime-local" isRequired={required} inputRef={ref} />;
    case "number":
      return <TextField {...common} value={text} inputMode={field.integer ? "numeric" : "decimal"} isRequired={required} inputRef={ref} />;
    case "text": {
      if (field.type === "color") return <ColorField {...common} value={text} isReadOnly={isDisabled} />;
      const known = knownValues(field, text);
      if (known) {
        return <Select {...common} value={text} selectRef={ref} isRequired={required} options={known} empty={required ? "Choose…" : "–"} />;
      }
      return (
        <TextField
          {...common}
          value={text}
          type={field.name === "password" ? "password" : field.type}
          autoComplete={field.name === "password" ? "new-password" : "off"}
          rows={field.rows}
          isRequired={required}
          inputRef={ref}
        />
      );
    }
    default:
      return null;
  }
}

type ChosenProps = Omit<ComponentProps<typeof ChosenReferenceInput>, "choice"> & { control: Control<FieldValues>; by: string };

function ChosenReference({ control, by, ...props }: ChosenProps) {
  const choice: unknown = useWatch({ control, name: by });
  return <ChosenReferenceInput {...props} choice={typeof choice === "string" ? choice : ""} />;
}

function onePerLine(description = ""): string {
  return description === "" ? "One per line." : `${description.replace(/[.;]?$/, ".")} One per line.`;
}

function Group({ field, name, control, isDisabled }: Props<Field & { kind: "group" }>) {
  return (
    <fieldset className="field-group">
      <legend>{field.label}</legend>
      {field.description !== undefined && <p className="field-description">{field.description}</p>}
      <FieldInputs fields={field.fields} prefix={name} control={control} isDisabled={isDisabled} />
    </fieldset>
  );
}

function Variant({ field, name, control, isDisabled }: Props<Field & { kind: "variant" }>) {
  const chosen: unknown = useWatch({ control, name: `${name}.${field.discriminator.name}` });
  const fields = typeof chosen === "string" ? (field.variants[chosen] ?? []) : [];
  return (
    <fieldset className="field-group">
      <legend>{field.label}</legend>
      <FieldInput field={field.discriminator} name={`${name}.${field.discriminator.name}`} control={control} isDisabled={isDisabled} />
      <FieldInputs key={String(chosen)} fields={fields} prefix={name} control={control} isDisabled={isDisabled} />
    </fieldset>
  );
}

function List({ field, name, control, isDisabled }: Props<Field & { kind: "list" }>) {
  const { fields: items, append, remove, move } = useFieldArray({ control, name });
  const item = { ...field.item, label: field.label };
  return (
    <fieldset className="field-group">
      <legend>{field.label}</legend>
      {field.description !== undefined && <p className="field-description">{field.description}</p>}
      {items.map(({ id }, index) => {
        const position = `${field.label} ${String(index + 1)}`;
        return (
          <div key={id} className="field-list-item">
            <FieldInput field={{ ...item, label: position }} name={`${name}.${String(index)}`} control={control} isDisabled={isDisabled} />
            <div className="page-header-actions">
              <Button
                size="small"
                aria-label={`Move ${position} up`}
                isDisabled={isDisabled || index === 0}
                onPress={() => move(index, index - 1)}
              >
                Up
              </Button>
              <Button size="small" aria-label={`Remove ${position}`} isDisabled={isDisabled} onPress={() => remove(index)}>
                Remove
              </Button>
            </div>
          </div>
        );
      })}
      <Button
        size="small"
        isDisabled={isDisabled || items.length >= field.maxItems}
        onPress={() => append(field.item.kind === "group" ? toForm(field.item.fields, {}) : {})}
      >
        {`Add to ${field.label.toLowerCase()}`}
      </Button>
    </fieldset>
  );
}
