import type { ReactNode, RefCallback } from "react";
import { FieldError } from "react-aria-components/FieldError";
import { Input } from "react-aria-components/Input";
import { Label } from "react-aria-components/Label";
import { Text } from "react-aria-components/Text";
import { TextArea } from "react-aria-components/TextArea";
import { TextField as AriaTextField, type TextFieldProps as AriaTextFieldProps } from "react-aria-components/TextField";
import "./field.css";

export interface TextFieldProps extends Omit<AriaTextFieldProps, "className" | "children"> {
  label: string;
  description?: ReactNode;
  /** What is wrong with the value, shown below it and read with it. */
  error?: string | undefined;
  /** More than one makes it a text area. */
  rows?: number;
  placeholder?: string;
  inputRef?: RefCallback<HTMLInputElement | HTMLTextAreaElement>;
}

export function TextField({ label, description, error, rows = 1, placeholder, inputRef, ...props }: TextFieldProps) {
  return (
    <AriaTextField {...props} isInvalid={error !== undefined} className="field">
      <Label className="field-label">{label}</Label>
      {rows > 1 ? (
        <TextArea className="field-input" rows={rows} placeholder={placeholder} ref={inputRef} />
      ) : (
        <Input className="field-input" placeholder={placeholder} ref={inputRef} />
      )}
      {description !== undefined && (
        <Text slot="description" className="field-description">
          {description}
        </Text>
      )}
      <FieldError className="field-error">{error}</FieldError>
    </AriaTextField>
  );
}
