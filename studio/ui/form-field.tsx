import { type Control, type FieldPath, type FieldValues, type RegisterOptions, useController } from "react-hook-form";
import { TextField, type TextFieldProps } from "./text-field.tsx";

interface Props<Fields extends FieldValues> extends Omit<TextFieldProps, "value" | "onChange" | "name" | "error"> {
  control: Control<Fields>;
  name: FieldPath<Fields>;
  rules?: Omit<RegisterOptions<Fields>, "valueAsNumber" | "valueAsDate" | "setValueAs" | "disabled">;
}

/** A text field of a react-hook-form. */
export function FormField<Fields extends FieldValues>({ control, name, rules, ...props }: Props<Fields>) {
  const { field, fieldState } = useController({ control, name, ...(rules && { rules }) });
  const value: unknown = field.value;
  return (
    <TextField
      {...props}
      name={name}
      value={typeof value === "string" ? value : ""}
      onChange={field.onChange}
      onBlur={field.onBlur}
      inputRef={field.ref}
      error={fieldState.error && (fieldState.error.message ?? "This value isn't valid.")}
    />
  );
}
