import { Component } from "react";
import type { ReactNode } from "react";

interface Props {
  children: ReactNode;
}

/** The messages of an error and its causes, outermost first. */
function causes(error: unknown): string {
  if (!(error instanceof Error)) return String(error);
  return error.cause === undefined ? error.message : `${error.message}\n\nCause:\n${causes(error.cause)}`;
}

/** Shows an error in an island instead of nothing, with a button to try again. */
export class Boundary extends Component<Props, { error: unknown; crashed: boolean }> {
  override state = { error: undefined, crashed: false };

  static getDerivedStateFromError(error: unknown): { error: unknown; crashed: boolean } {
    return { error, crashed: true };
  }

  override render(): ReactNode {
    if (!this.state.crashed) return this.props.children;
    return (
      <div role="alert" className="crash not-content">
        <h2>This page crashed.</h2>
        <pre>{causes(this.state.error)}</pre>
        <button type="button" className="tifo-button" onClick={() => this.setState({ error: undefined, crashed: false })}>
          Try again
        </button>
      </div>
    );
  }
}
