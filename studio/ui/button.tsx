import type { ReactNode } from "react";
import { Button as AriaButton, type ButtonProps as AriaButtonProps } from "react-aria-components/Button";
import "./button.css";

export interface ButtonProps extends Omit<AriaButtonProps, "className" | "children"> {
  /** "primary" for the one action that a screen is about, "danger" for what can't be undone, "quiet" in toolbars and tables. */
  look?: "primary" | "secondary" | "danger" | "quiet";
  size?: "regular" | "small" | "icon";
  children: ReactNode;
}

export function Button({ look = "secondary", size = "regular", ...props }: ButtonProps) {
  return <AriaButton {...props} className={`button button-${look} button-${size}`} />;
}
