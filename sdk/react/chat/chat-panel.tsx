import { useCallback, useMemo, useState } from "react";
import type { EventChat } from "../../chat/shared.ts";
import type { SdkContext } from "../../core/sdk-context.ts";
import { webAddress } from "../../core/web-address.ts";
import type { PanelRenderer } from "../../model/state.ts";
import { Announcer } from "./announcer.tsx";
import { Composer } from "./composer.tsx";
import { ChatProvider, type ChatContextValue, useChatState, useJoinedChat } from "./context.tsx";
import { Icon } from "./icons.tsx";
import { MessageList } from "./message-list.tsx";
import { MessageSheet } from "./message-sheet.tsx";
import { Pinned } from "./pinned.tsx";
import { RoomSheet } from "./room-sheet.tsx";
import { useTexts } from "../context.tsx";
import { problemText } from "../problem-text.ts";

export interface ChatPanelProps {
  sdk: SdkContext;
  renderer: Extract<PanelRenderer, { panel_type: "chat" }> | undefined;
}

/** The chat of a channel: its messages, the viewer's composer, and the tools of moderators. */
export function Content({ sdk, renderer }: ChatPanelProps) {
  const joined = useJoinedChat(sdk);
  return joined ? <Joined joined={joined} sdk={sdk} renderer={renderer} /> : null;
}

interface JoinedProps {
  joined: EventChat;
  sdk: SdkContext;
  renderer: ChatPanelProps["renderer"];
}

function Joined({ joined, sdk, renderer }: JoinedProps) {
  const { t } = useTexts();
  const [problem, setProblem] = useState("");
  const value = useMemo<ChatContextValue>(() => {
    const { moderation } = joined;
    const perform: ChatContextValue["perform"] = async (request) => {
      try {
        setProblem("");
        await request(moderation);
        return true;
      } catch (error) {
        setProblem(problemText(error, t("That couldn’t be done. Try again.")));
        return false;
      }
    };
    const change: ChatContextValue["change"] = (changes) => perform(({ change: send }) => send(changes));
    return { ...joined, sdk, perform, change };
  }, [joined, sdk, t]);
  return (
    <ChatProvider value={value}>
      <Layout renderer={renderer} problem={problem} />
    </ChatProvider>
  );
}

interface LayoutProps {
  renderer: ChatPanelProps["renderer"];
  problem: string;
}

function Layout({ renderer, problem }: LayoutProps) {
  const { t } = useTexts();
  const [sheet, setSheet] = useState<{ messageId: string } | "settings" | null>(null);
  const [replyTo, setReplyTo] = useState<string | null>(null);
  const showMessage = useCallback((messageId: string) => setSheet({ messageId }), []);
  const closeSheet = useCallback(() => setSheet(null), []);
  const isModerator = useChatState(({ settings }) => settings?.moderator === true);

  return (
    <div className="tifo-chat">
      <header className="tifo-chat-header">
        <span className="tifo-chat-title" aria-hidden="true">
          <bdi>{renderer?.panel_name ?? t("Chat")}</bdi>
        </span>
        <HeaderLink href={webAddress(renderer?.rules_link_url)?.href}>{t("Rules")}</HeaderLink>
        <HeaderLink href={webAddress(renderer?.help_link_url)?.href}>{t("Help")}</HeaderLink>
        {isModerator && (
          <button type="button" className="tifo-chat-icon" aria-label={t("Chat settings")} onClick={() => setSheet("settings")}>
            <Icon name="settings" />
          </button>
        )}
      </header>
      <Pinned />
      <MessageList welcome={renderer?.system_welcome_message} onReply={setReplyTo} onMore={showMessage} />
      <p className="tifo-problem tifo-chat-problem" role="alert">
        {problem}
      </p>
      <Composer replyTo={replyTo} onReplied={() => setReplyTo(null)} loginText={renderer?.login_button_text} />
      {sheet === "settings" && <RoomSheet onClose={closeSheet} />}
      {sheet !== null && sheet !== "settings" && (
        <MessageSheet key={sheet.messageId} messageId={sheet.messageId} onReply={setReplyTo} onClose={closeSheet} />
      )}
      <Announcer />
    </div>
  );
}

function HeaderLink({ href, children }: { href: string | undefined; children: string }) {
  if (href === undefined) return null;
  return (
    <a className="tifo-chat-link" href={href} target="_blank" rel="noopener noreferrer">
      {children}
    </a>
  );
}
