import type { ServerFrame, ServerFrameOf, ViewerFrame } from "./protocol.ts";

export type JoinOrLeave = Extract<ViewerFrame, { type: "chat.join" | "chat.leave" }>;

/** How the next stream joins the chat. */
export interface StreamChatQuery {
  language?: string | undefined;
  position: { after: number; revision: number } | null;
}

/**
 * The chat on a connection that can't send frames: a stream joins by its URL. So the join of a viewer on a stream becomes a new stream, except
 * the one that follows a welcome, because that stream has joined already.
 */
export class StreamChat {
  /** Null: the viewer isn't in the chat. */
  #query: StreamChatQuery | null = null;
  /** The current stream has joined, and the viewer hasn't sent a join since. */
  #hasJoined = false;

  /** How a stream that opens now joins; null: it doesn't. */
  open(): StreamChatQuery | null {
    this.#hasJoined = this.#query !== null;
    return this.#query;
  }

  /** The viewer joins or leaves. `isSent`: the connection has sent it. Otherwise, returns whether it takes a new stream. */
  change(frame: JoinOrLeave, isSent: boolean): boolean {
    const hasJoined = this.#hasJoined && !isSent;
    this.#hasJoined = false;
    if (frame.type === "chat.leave") {
      const wasJoined = this.#query !== null;
      this.#query = null;
      return wasJoined && !isSent;
    }
    if (hasJoined) return false;
    const { after, revision, language } = frame;
    this.#query = { language, position: after === undefined || revision === undefined ? null : { after, revision } };
    return !isSent;
  }

  /** Follows the position in the chat, from which the next stream continues. */
  receive(frame: ServerFrame): void {
    if (!this.#query) return;
    if (frame.type === "chat.history") this.#query.position = { after: frame.chatSeq, revision: frame.revision };
    else if (frame.type === "chat.messages" || frame.type === "chat.updated") this.#advance(frame);
  }

  /** Another viewer joins as such. */
  reset(): void {
    this.#query = null;
    this.#hasJoined = false;
  }

  #advance(frame: ServerFrameOf<"chat.messages" | "chat.updated">): void {
    const position = this.#query?.position;
    if (!position) return;
    if (frame.type === "chat.messages") position.after = Math.max(position.after, frame.chatSeq);
    else position.revision = Math.max(position.revision, frame.revision);
  }
}

export function isJoinOrLeave(frame: ViewerFrame): frame is JoinOrLeave {
  return frame.type === "chat.join" || frame.type === "chat.leave";
}
