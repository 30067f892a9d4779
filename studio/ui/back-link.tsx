import { Link } from "@tanstack/react-router";
import "./page-header.css";

/** Above the heading of a screen that was opened from a list: the way back, also while it loads or if it can't be read. */
export function BackLink({ to, children }: { to: string; children: string }) {
  return (
    <p className="back">
      <Link to={to}>{`← ${children}`}</Link>
    </p>
  );
}
