import { useState } from "react";
import { TifoChat } from "#sdk/react/index.ts";
import { CHATTERS, type Chatter, liveChatters } from "./demo.ts";
import { chatAs } from "./use-channel.ts";

/** The channel's chat, with a choice of who the reader is in it. */
export function Chat() {
  const [problem, setProblem] = useState("");

  function choose(value: string): void {
    setProblem("");
    chatAs(isChatter(value) ? value : null).catch((error: unknown) => setProblem(error instanceof Error ? error.message : String(error)));
  }

  return (
    <div className="chat">
      <label className="chat-as">
        Chat as
        <select defaultValue="" onChange={({ target }) => choose(target.value)}>
          <option value="">Nobody: read only</option>
          {Object.entries(liveChatters()).map(([chatter, { name }]) => (
            <option key={chatter} value={chatter}>
              {name}
            </option>
          ))}
        </select>
      </label>
      {problem !== "" && <p role="alert">{problem}</p>}
      <div className="chat-panel">
        <TifoChat />
      </div>
    </div>
  );
}

function isChatter(value: string): value is Chatter {
  return value in CHATTERS;
}
