import type { ReactNode } from "react";
import "./notice.css";

/** A message within a screen, such as what is wrong with a form. */
export function Notice({ tone, children }: { tone: "info" | "danger" | "success" | "warning"; children: ReactNode }) {
  return (
    <div className={`notice notice-${tone}`} role={tone === "danger" ? "alert" : "status"}>
      {children}
    </div>
  );
}
