import { Component, type ComponentType, lazy, type ReactNode, Suspense } from "react";
import type { SdkContext } from "../core/sdk-context.ts";
import type { PanelRenderer } from "../model/state.ts";
import * as context from "./context.tsx";
import { Note } from "./panel/parts.tsx";
import type { ShopProps } from "./panel/shop/shop-panel.tsx";
import { loadReleaseFile } from "./release-file.ts";

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

const chat = lazyPanel<{ sdk: SdkContext; renderer: RendererOf<"chat"> | undefined }>("chat", importChat);
const questions = lazyPanel<{ renderer: RendererOf<"question_answer"> }>("questions", importQuestions);
const ranks = lazyPanel<{ leaderboardId: string }>("ranks", importRanks);
const shop = lazyPanel<ShopProps>("shop", importShop);
const lists = lazyPanel<{ renderer: RendererOf<ListKind> }>("lists", importLists);

/** The channel's chat. */
export function ChatPanel({ renderer }: { renderer?: RendererOf<"chat"> }) {
  const sdk = context.useSdkContext();
  const Panel = chat.of(sdk.session.origin);
  return (
    <Loading onFailure={chat.forget}>
      <Panel sdk={sdk} renderer={renderer} />
    </Loading>
  );
}

/** The channel's questions. */
export function QuestionsPanel({ renderer }: { renderer: RendererOf<"question_answer"> }) {
  const Panel = questions.of(context.useSdkContext().session.origin);
  return (
    <Loading onFailure={questions.forget}>
      <Panel renderer={renderer} />
    </Loading>
  );
}

/** The ranks of a leaderboard. */
export function RanksPanel({ leaderboardId }: { leaderboardId: string }) {
  const Panel = ranks.of(context.useSdkContext().session.origin);
  return (
    <Loading onFailure={ranks.forget}>
      <Panel leaderboardId={leaderboardId} />
    </Loading>
  );
}

/** A panel in which viewers spend money. */
export function ShopPanel(props: ShopProps) {
  const Panel = shop.of(context.useSdkContext().session.origin);
  return (
    <Loading onFailure={shop.forget}>
      <Panel {...props} />
    </Loading>
  );
}

/** The viewer's balance and its history, loaded again with each version. */
export function WalletPanel({ version }: { version: string }) {
  return <ShopPanel walletVersion={version} />;
}

/** A panel that lists something. */
export function ListPanel({ renderer }: { renderer: RendererOf<ListKind> }) {
  const Panel = lists.of(context.useSdkContext().session.origin);
  return (
    <Loading onFailure={lists.forget}>
      <Panel renderer={renderer} />
    </Loading>
  );
}

function lazyPanel<Props extends object>(file: string, load: (() => Promise<{ Panel: ComponentType<Props> }>) | null) {
  const loaded = new Map<string, ComponentType<Props>>();
  return {
    of(origin: string): ComponentType<Props> {
      const known = loaded.get(origin);
      if (known) return known;
      const component = lazy(async () => ({
        default: (await (load ? load() : loadReleaseFile<{ Panel: ComponentType<Props> }>(origin, file))).Panel,
      }));
      loaded.set(origin, component);
      return component;
    },
    forget: () => loaded.clear(),
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
