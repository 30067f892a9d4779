import type { ReactNode } from "react";
import { Switch as AriaSwitch, type SwitchProps as AriaSwitchProps } from "react-aria-components/Switch";
import "./field.css";
import "./switch.css";

export interface SwitchProps extends Omit<AriaSwitchProps, "className" | "children"> {
  label: string;
  description?: ReactNode;
  error?: string | undefined;
}

export function Switch({ label, description, error, ...props }: SwitchProps) {
  return (
    <div className="field">
      <AriaSwitch {...props} className="switch">
        <span className="switch-track" aria-hidden="true" />
        <span className="field-label">{label}</span>
      </AriaSwitch>
      {description !== undefined && <span className="field-description">{description}</span>}
      {error !== undefined && (
        <span className="field-error" role="alert">
          {error}
        </span>
      )}
    </div>
  );
}
