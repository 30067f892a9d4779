import * as React from "react";
import * as jsxRuntime from "react/jsx-runtime";
import * as ReactDOM from "react-dom";
import { Component, type ComponentType, lazy, type ReactNode, Suspense } from "react";
import type { PanelRenderer } from "../../model/state.ts";
import { useSdkContext } from "../context.tsx";
import { Note } from "../panel/parts.tsx";
import type { ChatPanelProps } from "./chat-panel.tsx";

/** Defined at build time by scripts/build-sdk.ts and astro.config.mjs. `TIFO_SCRIPT`: whether this is the script for plain pages. */
declare const TIFO_SDK_VERSION: string;
declare const TIFO_SCRIPT: boolean;

type ChatPanelModule = { ChatPanel: ComponentType<ChatPanelProps> };

const loaded = new Map<string, ComponentType<ChatPanelProps>>();

interface Props {
  renderer?: Extract<PanelRenderer, { panel_type: "chat" }>;
}

/** The channel's chat, whose code is loaded when it is first shown. */
export function ChatLoader({ renderer }: Props) {
  const context = useSdkContext();
  const ChatPanel = chatPanelOf(context.session.origin);
  return (
    <ChatBoundary>
      <Suspense fallback={<p className="tifo-note tifo-loading">Loading…</p>}>
        <ChatPanel context={context} renderer={renderer} />
      </Suspense>
    </ChatBoundary>
  );
}

function chatPanelOf(origin: string): ComponentType<ChatPanelProps> {
  const known = loaded.get(origin);
  if (known) return known;
  const component = lazy(async () => ({ default: (await loadModule(origin)).ChatPanel }));
  loaded.set(origin, component);
  return component;
}

async function loadModule(origin: string): Promise<ChatPanelModule> {
  if (!TIFO_SCRIPT) return import("./chat-panel.tsx");
  // The script contains React, which this file shares with it.
  const shared: Record<string, unknown> = { react: React, "react/jsx-runtime": jsxRuntime, "react-dom": ReactDOM };
  const address = `${origin}/sdk/releases/${TIFO_SDK_VERSION}/chat.js`;
  const file: unknown = await import(/* webpackIgnore: true */ /* turbopackIgnore: true */ /* @vite-ignore */ address);
  if (!isFile(file)) throw new Error("Tifo: the deployment has no chat");
  return file.default((name) => shared[name]);
}

function isFile(file: unknown): file is { default: (require: (name: string) => unknown) => ChatPanelModule } {
  return typeof file === "object" && file !== null && "default" in file && typeof file.default === "function";
}

/** If the code can't be loaded, the next panel tries again. */
class ChatBoundary extends Component<{ children: ReactNode }, { failed: boolean }> {
  override state = { failed: false };

  static getDerivedStateFromError() {
    loaded.clear();
    return { failed: true };
  }

  override render(): ReactNode {
    if (!this.state.failed) return this.props.children;
    return (
      <Note>
        The chat couldn’t be loaded.
        <button type="button" className="tifo-button" onClick={() => this.setState({ failed: false })}>
          Try again
        </button>
      </Note>
    );
  }
}
