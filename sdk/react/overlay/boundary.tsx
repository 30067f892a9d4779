import { Component, type ReactNode, Suspense } from "react";

interface Props {
  children: ReactNode;
  /** A new value tries again after a failure. */
  attempt: string;
  onFailure: () => void;
}

/** Leaves out what can't be loaded, so that everything else is still shown. */
export class Boundary extends Component<Props, { failed: boolean }> {
  override state = { failed: false };

  static getDerivedStateFromError() {
    return { failed: true };
  }

  override componentDidCatch(reason: unknown): void {
    console.warn("Tifo: the overlay could not be shown", reason);
    this.props.onFailure();
  }

  override componentDidUpdate({ attempt }: Props): void {
    if (this.state.failed && attempt !== this.props.attempt) this.setState({ failed: false });
  }

  override render(): ReactNode {
    return this.state.failed ? null : <Suspense>{this.props.children}</Suspense>;
  }
}
