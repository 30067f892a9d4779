import { TextField, type TextFieldProps } from "./text-field.tsx";
import "./color-field.css";

interface Props extends Pick<TextFieldProps, "label" | "description" | "error" | "isReadOnly" | "placeholder"> {
  value: string;
  onChange: (color: string) => void;
}

/** The name of the picker beside a colour's field. */
export function pickerName(label: string): string {
  return `Choose the ${label.charAt(0).toLowerCase()}${label.slice(1)}`;
}

/** A colour of six digits, which a picker of the platform can show; of any other text, `fallback`. */
export function pickable(color: string, fallback = "#000000"): string {
  const short = /^#([0-9a-f])([0-9a-f])([0-9a-f])$/i.exec(color);
  if (short)
    return `#${short
      .slice(1)
      .flatMap((digit) => [digit, digit])
      .join("")}`;
  return /^#[0-9a-f]{6}$/i.test(color) ? color : fallback;
}

/** A hex colour, beside the platform's picker. */
export function ColorField({ label, value, onChange, isReadOnly = false, placeholder = "#0b5fff", ...props }: Props) {
  return (
    <div className="color-beside">
      <input
        type="color"
        aria-label={pickerName(label)}
        value={pickable(value, pickable(placeholder))}
        disabled={isReadOnly}
        onChange={({ target }) => onChange(target.value)}
      />
      <TextField
        {...props}
        label={label}
        value={value}
        onChange={onChange}
        placeholder={placeholder}
        maxLength={7}
        isReadOnly={isReadOnly}
      />
    </div>
  );
}
