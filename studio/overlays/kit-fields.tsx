import { choices, usePolls } from "#studio/api/lists.ts";
import { pickable, pickerName } from "#studio/ui/color-field.tsx";
import { Select } from "#studio/ui/select.tsx";
import { TextField } from "#studio/ui/text-field.tsx";
import { BrandColors } from "./brand.tsx";
import { ImageField } from "./image-field.tsx";
import { fieldsOf, type KitField, localTime, parsed } from "./kit-schema.ts";
import { type FieldsProps, type KitElement, type Template, type Value, withValue } from "./model.ts";

type Props = FieldsProps<KitElement> & { template: Template };

/** The form of a template, from the schema of its variables. */
export function KitFields({ element, template, onChange, issues, isReadOnly }: Props) {
  const fields = fieldsOf(template);
  return (
    <div className="kit-fields">
      {fields.map((field) => (
        <div key={field.name} className={field.kind === "lines" ? "kit-field-wide" : undefined}>
          <Field
            field={field}
            value={element.variables?.[field.name]}
            onChange={(value) => onChange({ ...element, variables: withValue(element.variables, field.name, value) })}
            error={issues.get(`variables.${field.name}`)}
            isReadOnly={isReadOnly}
          />
        </div>
      ))}
    </div>
  );
}

interface FieldProps {
  field: KitField;
  value: Value | undefined;
  onChange: (value: Value) => void;
  error: string | undefined;
  isReadOnly: boolean;
}

function Field(props: FieldProps) {
  const { field, value, onChange, error, isReadOnly } = props;
  const text = value === undefined ? "" : String(value);
  const common = { label: field.required ? field.label : `${field.label} (optional)`, description: field.description, error };
  const none = field.required ? [] : [{ value: "", text: "–" }];
  switch (field.kind) {
    case "choice":
    case "switch": {
      const options =
        field.kind === "choice"
          ? field.options.map((option) => ({ value: option, text: option }))
          : [
              { value: "true", text: "Yes" },
              { value: "false", text: "No" },
            ];
      // A placeholder, which a broadcast fills in, is none of them.
      const own = text === "" || options.some((option) => option.value === text) ? [] : [{ value: text, text }];
      const change = (chosen: string): void => onChange(parsed(field.kind, chosen));
      return <Select {...common} value={text} onChange={change} options={[...none, ...options, ...own]} isDisabled={isReadOnly} />;
    }
    case "color":
      return <ColorField {...props} common={common} text={text} />;
    case "image":
      return <ImageField {...common} value={text} onChange={onChange} isReadOnly={isReadOnly} />;
    case "poll":
      return <PollField {...props} common={common} text={text} />;
    case "time":
      return <TimeField {...props} common={common} />;
    default:
      return (
        <TextField
          {...common}
          value={text}
          onChange={(typed) => onChange(parsed(field.kind, typed))}
          rows={field.kind === "lines" ? 5 : 1}
          isReadOnly={isReadOnly}
          {...(field.maxLength !== undefined && { maxLength: Math.max(field.maxLength, 60) })}
          {...(field.kind === "number" && { inputMode: "decimal" as const })}
        />
      );
  }
}

interface Common {
  common: { label: string; description: string; error: string | undefined };
  text: string;
}

function ColorField({ common, text, onChange, isReadOnly }: FieldProps & Common) {
  return (
    <div className="color-field">
      <TextField {...common} description="" value={text} onChange={onChange} placeholder="#0b5fff" isReadOnly={isReadOnly} />
      {!isReadOnly && (
        <div className="color-choice">
          <input
            type="color"
            aria-label={pickerName(common.label)}
            value={pickable(text)}
            onChange={({ target }) => onChange(target.value)}
          />
          <BrandColors label={common.label} onChoose={onChange} />
        </div>
      )}
    </div>
  );
}

function PollField({ common, text, onChange, isReadOnly }: FieldProps & Common) {
  const polls = usePolls();
  return (
    <Select
      {...common}
      value={text}
      onChange={onChange}
      options={choices(polls.data)}
      isLoading={polls.isPending}
      isDisabled={isReadOnly}
      {...(text === "" && { empty: "Choose…" })}
    />
  );
}

function TimeField({ field, common, value, onChange, isReadOnly }: FieldProps & Pick<Common, "common">) {
  const text = typeof value === "number" ? localTime(value) : "";
  const isPlaceholder = typeof value === "string" && value !== "";
  return (
    <TextField
      {...common}
      description={isPlaceholder ? `A broadcast fills it in: ${value}` : field.description.replace(/, in milliseconds since 1970 UTC/, "")}
      type="datetime-local"
      value={text}
      onChange={(typed) => onChange(parsed("time", typed))}
      isReadOnly={isReadOnly}
    />
  );
}
