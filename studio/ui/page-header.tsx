import type { ReactNode } from "react";
import "./page-header.css";

/** The heading of a screen, with its actions. */
export function PageHeader({ title, description, children }: { title: string; description?: ReactNode; children?: ReactNode }) {
  return (
    <div className="page-header">
      <div>
        <h1>{title}</h1>
        {description !== undefined && <p className="soft">{description}</p>}
      </div>
      {children !== undefined && <div className="page-header-actions">{children}</div>}
    </div>
  );
}
