import type { ReactNode } from "react";
import { type Key, Menu as AriaMenu, MenuItem, MenuTrigger } from "react-aria-components/Menu";
import { Popover } from "react-aria-components/Popover";
import { Button } from "./button.tsx";
import { Icon } from "./icon.tsx";
import "./menu.css";

interface MenuProps {
  /** What it is about, said before its text. */
  label: string;
  text: string;
  detail?: string;
  onAction: (key: Key) => void;
  children: ReactNode;
}

/** A button that opens a list of actions. */
export function Menu({ label, text, detail, onAction, children }: MenuProps) {
  return (
    <MenuTrigger>
      <Button look="quiet">
        <span className="visually-hidden">{`${label}: `}</span>
        <span className="menu-text">
          <span className="menu-name">{text}</span> {detail !== undefined && <span className="menu-detail">{detail}</span>}
        </span>
        <Icon name="chevron" />
      </Button>
      <Popover className="menu-popover">
        <AriaMenu className="menu" onAction={onAction} aria-label={label}>
          {children}
        </AriaMenu>
      </Popover>
    </MenuTrigger>
  );
}

export { MenuItem };
