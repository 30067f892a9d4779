import { useQuery } from "@tanstack/react-query";
import { ok } from "#sdk/client/index.ts";
import { useSession } from "#studio/session/context.tsx";

const SHOWN = 20;
const REREAD_MS = 3_000;

/** The latest messages of the channel's chat, newest first. The Moderate screen decides about them. */
export function LatestChat({ channelId }: { channelId: string }) {
  const { client } = useSession();
  const chat = useQuery({
    queryKey: ["run", "chat", channelId],
    queryFn: async () => {
      const params = { path: { channelId }, query: { limit: SHOWN } };
      return (await ok(client.api.GET("/chat/v1/{channelId}/messages", { params }))).results;
    },
    refetchInterval: REREAD_MS,
  });
  const messages = chat.data?.filter(({ state, text }) => state === "visible" && text !== null) ?? [];
  return (
    <details className="audience-part">
      <summary>
        <h3>Chat</h3>
      </summary>
      {messages.length === 0 ? (
        <p className="soft">{chat.isError ? "The chat can’t be read at the moment." : "Nobody has written yet."}</p>
      ) : (
        <ul className="audience-chat" aria-label="Chat">
          {messages.map(({ _id, name, text }) => (
            <li key={_id}>
              <strong>{name}</strong> {text}
            </li>
          ))}
        </ul>
      )}
    </details>
  );
}
