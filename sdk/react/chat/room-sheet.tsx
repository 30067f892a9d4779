import { useChatContext, useChatState } from "./context.tsx";
import { Sheet } from "./sheet.tsx";
import { useTexts } from "../context.tsx";

const SLOW_SECONDS = [0, 5, 10, 30, 60, 120];

/** The room's settings, for moderators. Each change applies at once, for everybody. */
export function RoomSheet({ onClose }: { onClose: () => void }) {
  const { t } = useTexts();
  const { change } = useChatContext();
  const settings = useChatState((state) => state.settings);
  if (!settings) return null;
  const { mode, skus, slowSeconds, premoderate } = settings;
  const choices = [...new Set([...SLOW_SECONDS, slowSeconds])].sort((one, other) => one - other);
  return (
    <Sheet title={t("Chat settings")} onClose={onClose}>
      <div className="tifo-chat-form">
        <label>
          {t("Who can send")}
          <select value={mode} onChange={({ target }) => void change({ mode: modeOf(target.value) })}>
            <option value="open">{t("Everybody who is signed in")}</option>
            <option value="members" disabled={skus.length === 0}>
              {t("Members only")}
            </option>
            <option value="paused">{t("Only moderators (paused)")}</option>
          </select>
        </label>
        <label>
          {t("Slow mode")}
          <select value={slowSeconds} onChange={({ target }) => void change({ slowSeconds: Number(target.value) })}>
            {choices.map((seconds) => (
              <option key={seconds} value={seconds}>
                {seconds === 0
                  ? t("Off")
                  : t("{count, plural, one {One message every second} other {One message every # seconds}}", { count: seconds })}
              </option>
            ))}
          </select>
        </label>
        <label className="tifo-chat-check">
          <input type="checkbox" checked={premoderate} onChange={({ target }) => void change({ premoderate: target.checked })} />
          {t("Hold every message until a moderator approves it")}
        </label>
      </div>
    </Sheet>
  );
}

function modeOf(value: string): "open" | "members" | "paused" {
  return value === "members" || value === "paused" ? value : "open";
}
