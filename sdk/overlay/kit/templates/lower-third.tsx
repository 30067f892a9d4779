import { colors, Frame, Text } from "../parts.tsx";
import type { PieceProps } from "../piece.ts";

export const css = `
.tk-lower-third { display: flex; align-items: stretch; min-width: u(320); max-width: u(740); }
.tk-lower-third-image { flex: none; width: u(124); border-radius: u(5) 0 0 u(5); object-fit: cover; object-position: top; background: var(--raised); }
.tk-lower-third-body { display: grid; grid-template-columns: minmax(0, 1fr); flex: 1; justify-items: start; align-content: end; min-width: 0; }
.tk-lower-third-label { max-width: 100%; padding: u(4) u(14); font-size: u(19); border-radius: u(4) u(4) 0 0; }
.tk-lower-third-name { width: 100%; padding: u(10) u(22) u(11); background: var(--panel); border-inline-start: u(9) solid var(--color); }
.tk-lower-third .tk-close { top: var(--label, 0px); }
.tk-lower-third:has(.tk-lower-third-label) { --label: u(30); }
.tk-lower-third-role { width: 100%; padding: u(7) u(22) u(8); border-inline-start: u(9) solid rgb(0 0 0 / 22%); }
`;

/** A name and what it stands for. */
export function Piece({ variables, address, onDismiss, t }: PieceProps<"lower-third">) {
  const { name, role, label, image, accentColor } = variables;
  const own = colors(accentColor);
  return (
    <Frame piece="lower-third" name={name} onDismiss={onDismiss} t={t}>
      {image !== undefined && <img className="tk-lower-third-image" src={address(image)} alt="" />}
      <div className="tk-lower-third-body" style={own}>
        {label !== undefined && <span className="tk-lower-third-label tk-label tk-color tk-rise">{label}</span>}
        <div className="tk-lower-third-name tk-room tk-shadow">
          <Text size={44} fits={26} lines={2} className="tk-strong" order={1}>
            {name}
          </Text>
        </div>
        {role !== undefined && (
          <div className="tk-lower-third-role tk-color tk-bar tk-shadow">
            <Text size={25} fits={48} lines={2} order={2}>
              {role}
            </Text>
          </div>
        )}
      </div>
    </Frame>
  );
}
