import type { ReactNode } from "react";
import { TifoProblem } from "#sdk/client/problem.ts";
import { Button } from "./button.tsx";
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
  children?: ReactNode;
  /** What to do about it. */
  action?: ReactNode;
}

export function Empty({ title, children, action }: StateProps) {
  return (
    <div className="state">
      <p className="state-title">{title}</p>
      {children !== undefined && <p className="soft">{children}</p>}
      {action}
    </div>
  );
}

/** A request that failed, with its id, which finds it in the deployment's log. */
export function ErrorState({ error, retry }: { error: unknown; retry?: () => void }) {
  const requestId = error instanceof TifoProblem ? error.requestId : undefined;
  return (
    <div className="state" role="alert">
      <p className="state-title">{errorText(error)}</p>
      {requestId !== undefined && (
        <p className="soft">
          Request <code>{requestId}</code>
        </p>
      )}
      {retry && <Button onPress={retry}>Try again</Button>}
    </div>
  );
}

/** A sentence for whoever sees the screen. Only the API's own messages are shown as they are. */
export function errorText(error: unknown): string {
  if (!(error instanceof TifoProblem)) return "Something went wrong in Studio.";
  if (error.code === "network") return "The server can't be reached.";
  return error.message;
}
