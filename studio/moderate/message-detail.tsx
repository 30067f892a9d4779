import { Button } from "#studio/ui/button.tsx";
import { errorText } from "#studio/ui/states.tsx";
import type { Entry } from "./desk.ts";
import { useSurroundings } from "./use-chat.ts";

interface Props {
  entry: Entry;
  channelName: string | null;
  can: { approve: boolean; remove: boolean; ban: boolean };
  onApprove: () => void;
  onRemove: () => void;
  onBan: () => void;
}

const TIME = new Intl.DateTimeFormat("en-GB", { dateStyle: "medium", timeStyle: "medium" });
const CLOCK = new Intl.DateTimeFormat("en-GB", { timeStyle: "medium" });

/** A message with everything that a decision needs: who wrote it, why it waits, and what was said around it. */
export function MessageDetail({ entry, channelName, can, onApprove, onRemove, onBan }: Props) {
  const { name, roles, text, original, reports = [], category = null, sentAt, system, muted } = entry;
  return (
    <section className="card message-detail" aria-labelledby="selected-message">
      <div className="sender">
        <span className="sender-initial" aria-hidden="true">
          {[...name][0]?.toUpperCase()}
        </span>
        <div className="sender-text">
          <h2 id="selected-message">{name}</h2>
          <p className="soft">{[channelName, TIME.format(sentAt), system ? "The site's own message" : null].filter(Boolean).join(" · ")}</p>
        </div>
        {roles.map((role) => (
          <span key={role} className="chip">
            {role}
          </span>
        ))}
        {muted === true && <span className="chip">Muted</span>}
      </div>
      <blockquote className="message-text">{original ?? text ?? "The text is gone."}</blockquote>
      {original !== undefined && original !== text && text !== null && <p className="soft">Viewers see: {text}</p>}
      {category !== null && (
        <p>
          <span className="chip" data-tone="warning">
            {category}
          </span>{" "}
          according to the automatic moderator
        </p>
      )}
      {reports.length > 0 && (
        <div>
          <h3 className="detail-title">{reports.length === 1 ? "1 report" : `${reports.length} reports`}</h3>
          <ul className="reports">
            {reports.map(({ reason, reportedAt, accountId }, index) => (
              <li key={`${accountId ?? ""}${index}`}>
                <span>{reason}</span> <time className="soft">{CLOCK.format(reportedAt)}</time>
              </li>
            ))}
          </ul>
        </div>
      )}
      <div className="decisions" role="group" aria-label="Decision">
        <Decision name="Approve" shortcut="A" look="primary" isDisabled={!can.approve} onPress={onApprove} />
        <Decision name="Remove" shortcut="R" look="danger" isDisabled={!can.remove} onPress={onRemove} />
        <Decision name="Ban" shortcut="B" look="secondary" isDisabled={!can.ban} onPress={onBan} />
      </div>
      <Surroundings entry={entry} />
    </section>
  );
}

interface DecisionProps {
  name: string;
  shortcut: string;
  look: "primary" | "secondary" | "danger";
  isDisabled: boolean;
  onPress: () => void;
}

export function Decision({ name, shortcut, look, isDisabled, onPress }: DecisionProps) {
  return (
    <Button look={look} isDisabled={isDisabled} onPress={onPress} preventFocusOnPress aria-keyshortcuts={shortcut}>
      {name} <kbd aria-hidden="true">{shortcut}</kbd>
    </Button>
  );
}

function Surroundings({ entry }: { entry: Entry }) {
  const messages = useSurroundings(entry);
  return (
    <div>
      <h3 className="detail-title">In the chat</h3>
      {messages.isPending && <p className="soft">Loading what was said around it…</p>}
      {messages.isError && <p className="field-error">{errorText(messages.error)}</p>}
      {messages.data?.length === 0 && <p className="soft">It is too old to be shown in its place.</p>}
      <ol className="surroundings">
        {messages.data?.map(({ _id, name, text, original, sentAt, state }) => (
          <li key={_id} className="surrounding" data-state={state} aria-current={_id === entry._id ? "true" : undefined}>
            <time className="soft">{CLOCK.format(sentAt)}</time>
            <span className="surrounding-text">
              <strong>{name}</strong> {original ?? text}
              {state !== "visible" && <span className="soft"> ({state})</span>}
            </span>
          </li>
        ))}
      </ol>
    </div>
  );
}
