import type { ReactNode } from "react";
import { TifoProblem } from "#sdk/client/problem.ts";
import { Button } from "./button.tsx";
import { Icon, type IconName } from "./icon.tsx";
import "./states.css";

/** While the first data of a screen is on its way. */
export function Loading({ label = "Loading…" }: { label?: string }) {
  return (
    <div className="state" role="status">
      <span className="spinner" aria-hidden="true" />
      <span className="soft">{label}</span>
    </div>
  );
}

interface StateProps {
  title: string;
  icon?: IconName;
  children?: ReactNode;
  /** What to do about it. */
  action?: ReactNode;
}

export function Empty({ title, icon, children, action }: StateProps) {
  return (
    <div className="state">
      {icon && (
        <span className="state-icon">
          <Icon name={icon} />
        </span>
      )}
      <p className="state-title">{title}</p>
      {children !== undefined && <p className="state-text">{children}</p>}
      {action}
    </div>
  );
}

/** A request that failed, with its id, which finds it in the deployment's log. */
export function ErrorState({ error, retry }: { error: unknown; retry?: () => void }) {
  const requestId = error instanceof TifoProblem ? error.requestId : undefined;
  return (
    <div className="state" role="alert">
      <span className="state-icon state-icon-danger">
        <Icon name="alert" />
      </span>
      <p className="state-title">{errorText(error)}</p>
      {isUnreachable(error) && <p className="state-text">Check your connection, then try again.</p>}
      {requestId !== undefined && (
        <p className="state-text">
          If it happens again, tell whoever runs this deployment the request’s id: <code>{requestId}</code>
        </p>
      )}
      {retry && <Button onPress={retry}>Try again</Button>}
    </div>
  );
}

function isUnreachable(error: unknown): boolean {
  return error instanceof TifoProblem && error.code === "network";
}

/** A sentence for whoever sees the screen. Only the API's own messages are shown as they are. */
export function errorText(error: unknown): string {
  if (!(error instanceof TifoProblem)) return "Something went wrong in Studio.";
  if (isUnreachable(error)) return "The server can't be reached.";
  if (error.code === "idempotency_unanswered") return "This was done before, and only its answer was lost. Load the page again to see it.";
  return error.message;
}
