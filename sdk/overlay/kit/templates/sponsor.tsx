import { colors, Frame, Text } from "../parts.tsx";
import type { PieceProps } from "../piece.ts";

export const css = `
.tk-sponsor .tk-slab { display: flex; align-items: stretch; max-width: u(460); border-bottom: u(6) solid var(--color); }
.tk-sponsor-logo { display: grid; flex: none; place-items: center; width: u(132); padding: u(14); background: #fff; }
.tk-sponsor-logo img { max-width: 100%; max-height: u(84); object-fit: contain; }
@media (forced-colors: active) { .tk-sponsor-logo { forced-color-adjust: none; } }
.tk-sponsor-body { display: grid; grid-template-columns: minmax(0, 1fr); gap: u(3); align-content: center; min-width: u(200); min-height: u(96); padding: u(14) u(22); }
`;

/** A sponsor's logo and name. */
export function Piece({ variables, address, onDismiss, t }: PieceProps<"sponsor">) {
  const { name, label, detail, image, accentColor } = variables;
  return (
    <Frame piece="sponsor" name={label === undefined ? name : `${label} ${name}`} onDismiss={onDismiss} t={t}>
      <div className="tk-slab" style={colors(accentColor)}>
        {image !== undefined && (
          <div className="tk-sponsor-logo">
            <img src={address(image)} alt="" />
          </div>
        )}
        <div className="tk-sponsor-body">
          {label !== undefined && (
            <Text size={18} fits={26} className="tk-label tk-quiet tk-room" order={0}>
              {label}
            </Text>
          )}
          <Text size={35} fits={20} lines={2} className={label === undefined ? "tk-strong tk-room" : "tk-strong"} order={1}>
            {name}
          </Text>
          {detail !== undefined && (
            <Text size={22} fits={32} lines={2} className="tk-quiet" order={2}>
              {detail}
            </Text>
          )}
        </div>
      </div>
    </Frame>
  );
}
