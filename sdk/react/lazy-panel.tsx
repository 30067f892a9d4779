import { Component, type ReactNode, Suspense } from "react";
import type { SdkContext } from "../core/sdk-context.ts";
import type { PanelRenderer } from "../model/state.ts";
import * as context from "./context.tsx";
import { lazyFile, type ModuleLoader } from "./lazy-file.ts";
import { Note } from "./panel/parts.tsx";
import type { ShopProps } from "./panel/shop/shop-panel.tsx";

/** Defined at build time by scripts/build-sdk.ts and astro.config.mjs: whether this is the script for plain pages. */
declare const TIFO_SCRIPT: boolean;

type RendererOf<K> = Extract<PanelRenderer, { panel_type: K }>;

type ListKind = "schedule" | "channel_select" | "playlist" | "peopleGroups";

/** Panels whose code is loaded when they are first shown: from their own file of the release, or by the app's bundler. */
const importChat = typeof TIFO_SCRIPT === "boolean" && TIFO_SCRIPT ? null : () => import("./chat/chat-panel.tsx");
const importQuestions = typeof TIFO_SCRIPT === "boolean" && TIFO_SCRIPT ? null : () => import("./panel/questions/questions.tsx");
const importRanks = typeof TIFO_SCRIPT === "boolean" && TIFO_SCRIPT ? null : () => import("./panel/ranks/ranks.tsx");
const importShop = typeof TIFO_SCRIPT === "boolean" && TIFO_SCRIPT ? null : () => import("./panel/shop/shop-panel.tsx");
const importLists = typeof TIFO_SCRIPT === "boolean" && TIFO_SCRIPT ? null : () => import("./panel/lists.tsx");

const Chat = lazyPanel<{ sdk: SdkContext; renderer: RendererOf<"chat"> | undefined }>("chat", importChat);
/** The channel's questions. */
export const QuestionsPanel = lazyPanel<{ renderer: RendererOf<"question_answer"> }>("questions", importQuestions);
/** The ranks of a leaderboard. */
export const RanksPanel = lazyPanel<{ leaderboardId: string }>("ranks", importRanks);
/** A panel in which viewers spend money. */
export const ShopPanel = lazyPanel<ShopProps>("shop", importShop);
/** A panel that lists something. */
export const ListPanel = lazyPanel<{ renderer: RendererOf<ListKind> }>("lists", importLists);

/** The channel's chat. */
export function ChatPanel({ renderer }: { renderer?: RendererOf<"chat"> }) {
  return <Chat sdk={context.useSdkContext()} renderer={renderer} />;
}

/** The viewer's balance and its history, loaded again with each version. */
export function WalletPanel({ version }: { version: string }) {
  return <ShopPanel walletVersion={version} />;
}

function lazyPanel<Props extends object>(file: string, load: ModuleLoader<Props>) {
  const code = lazyFile(file, load);
  return function LazyPanel(props: Props) {
    const Panel = code.of(context.useSdkContext().session.origin);
    return (
      <Loading onFailure={code.forget}>
        <Panel {...props} />
      </Loading>
    );
  };
}

interface LoadingProps {
  children: ReactNode;
  onFailure: () => void;
}

/** If the code can't be loaded, the viewer can try again. */
class Loading extends Component<LoadingProps, { failed: boolean }> {
  override state = { failed: false };

  static getDerivedStateFromError() {
    return { failed: true };
  }

  override componentDidCatch(): void {
    this.props.onFailure();
  }

  override render(): ReactNode {
    if (!this.state.failed) return <Suspense fallback={<LoadingNote />}>{this.props.children}</Suspense>;
    return <FailedNote onRetry={() => this.setState({ failed: false })} />;
  }
}

function LoadingNote() {
  const { t } = context.useTexts();
  return <p className="tifo-note tifo-loading">{t("Loading…")}</p>;
}

function FailedNote({ onRetry }: { onRetry: () => void }) {
  const { t } = context.useTexts();
  return (
    <Note>
      {t("This couldn’t be loaded.")}
      <button type="button" className="tifo-button" onClick={onRetry}>
        {t("Try again")}
      </button>
    </Note>
  );
}
