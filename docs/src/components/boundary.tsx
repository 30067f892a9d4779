import { Component } from "react";
import type { ReactNode } from "react";
import { chainOf } from "./shell/causes.ts";

interface Props {
  children: ReactNode;
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
        <pre>{chainOf(this.state.error)}</pre>
        <button type="button" className="tifo-button" onClick={() => this.setState({ error: undefined, crashed: false })}>
          Try again
        </button>
      </div>
    );
  }
}
