import { colors, Crest, Frame, Text } from "../parts.tsx";
import type { PieceProps } from "../piece.ts";

export const css = `
.tk-chat-message .tk-slab { display: flex; gap: u(16); max-width: u(560); padding: u(16) u(20) u(18) u(16); border-radius: u(22) u(22) u(22) u(5); }
.tk-chat-message:dir(rtl) .tk-slab { border-radius: u(22) u(22) u(5) u(22); }
.tk-chat-message .tk-crest { border-radius: 50%; }
.tk-chat-message-who { display: flex; gap: u(10); align-items: center; margin-bottom: u(5); }
.tk-chat-message-badge { flex: none; max-width: 45%; white-space: nowrap; text-overflow: ellipsis; padding: u(2) u(9); border-radius: u(3); font-size: u(17); }
`;

/** A message from the chat. */
export function Piece({ variables, address, onDismiss, t }: PieceProps<"chat-message">) {
  const { text, name, image, badge, accentColor } = variables;
  return (
    <Frame piece="chat-message" name={t("Message from {name}", { name })} onDismiss={onDismiss} t={t}>
      <div className="tk-slab">
        <Crest name={name} color={accentColor} image={image === undefined ? undefined : address(image)} size={56} />
        <div className="tk-grow">
          <div className="tk-chat-message-who tk-room">
            <Text size={25} fits={badge === undefined ? 30 : 20} className="tk-strong" order={0}>
              {name}
            </Text>
            {badge !== undefined && (
              <span className="tk-chat-message-badge tk-label tk-color" style={colors(accentColor)}>
                {badge}
              </span>
            )}
          </div>
          <Text size={29} fits={84} lines={4} order={1}>
            {text}
          </Text>
        </div>
      </div>
    </Frame>
  );
}
