import { useQuery } from "@tanstack/react-query";
import { ok } from "#sdk/client/index.ts";
import { readAll } from "#sdk/client/lists.ts";
import { choices, usePolls } from "#studio/api/lists.ts";
import { useSession } from "#studio/session/context.tsx";
import { Select } from "#studio/ui/select.tsx";
import { TextField } from "#studio/ui/text-field.tsx";
import { errorText } from "#studio/ui/states.tsx";
import type { Draft, Problems } from "./draft.ts";
import type { Overlay } from "./model.ts";
import { VariableFields } from "./variable-fields.tsx";
import { fieldsOf } from "./variables.ts";

interface Props {
  draft: Draft;
  change: (changes: Partial<Draft>) => void;
  problems: Problems;
}

/** The fields that only items of this kind have. */
export function KindFields(props: Props) {
  const { draft, change, problems } = props;
  switch (draft.kind) {
    case "broadcast":
      return <OverlayFields {...props} />;
    case "poll":
      return <PollFields {...props} />;
    case "quest":
      return (
        <>
          <Target {...props} label="Quest" kind="quests" />
          <Action {...props} actions={["open", "close"]} />
        </>
      );
    case "raffle":
      return (
        <>
          <Target {...props} label="Quest" kind="quests" />
          <TextField
            label="Winners"
            inputMode="numeric"
            value={draft.winners}
            onChange={(winners) => change({ winners })}
            error={problems.winners}
          />
        </>
      );
    case "stream":
      return (
        <>
          <Target {...props} label="Stream" kind="streams" />
          <Action {...props} actions={["start", "stop"]} />
        </>
      );
    case "wait":
      return (
        <TextField
          label="Seconds"
          inputMode="numeric"
          value={draft.seconds}
          onChange={(seconds) => change({ seconds })}
          error={problems.seconds}
        />
      );
    case "note":
      return null;
  }
}

function OverlayFields(props: Props) {
  const { draft, change, problems } = props;
  const overlays = useOverlays();
  const overlay = overlays.data?.find(({ _id }) => _id === draft.targetId);
  return (
    <>
      <Choice
        {...props}
        label="Overlay"
        choices={overlays.data && choices(overlays.data)}
        error={overlays.error}
        onChange={(targetId) => {
          const name = overlays.data?.find(({ _id }) => _id === targetId)?.name;
          change({ targetId, variables: {}, ...(draft.name === "" && name !== undefined && { name }) });
        }}
      />
      {overlay && (
        <VariableFields
          fields={fieldsOf(overlay, draft.variables)}
          onChange={(name, value) => change({ variables: { ...draft.variables, [name]: value } })}
        />
      )}
      <TextField
        label="Seconds on screen"
        inputMode="numeric"
        value={draft.duration}
        onChange={(duration) => change({ duration })}
        error={problems.duration}
        placeholder={overlay ? String(overlay.duration) : ""}
      />
    </>
  );
}

function PollFields(props: Props) {
  const { draft, change } = props;
  const polls = usePolls();
  const poll = polls.data?.find(({ _id }) => _id === draft.targetId);
  return (
    <>
      <Choice
        {...props}
        label="Poll"
        choices={polls.data && choices(polls.data)}
        error={polls.error}
        onChange={(targetId) => change({ targetId, correctAnswerId: "" })}
      />
      <Action {...props} actions={["open", "close", "settle"]} />
      {draft.action === "settle" && (
        <Select
          label="Correct answer"
          value={draft.correctAnswerId}
          empty="The poll's own"
          options={poll?.answers.map(({ _id, answer }) => ({ value: _id, text: answer })) ?? []}
          onChange={(correctAnswerId) => change({ correctAnswerId })}
        />
      )}
    </>
  );
}

function Action({ draft, change, actions }: Props & { actions: readonly [string, ...string[]] }) {
  const value = actions.includes(draft.action) ? draft.action : actions[0];
  const options = actions.map((action) => ({ value: action, text: `${action.charAt(0).toUpperCase()}${action.slice(1)}` }));
  return <Select label="Action" value={value} options={options} onChange={(action) => change({ action })} />;
}

/** Quests and streams, of which only the name matters here. */
function Target(props: Props & { label: string; kind: "quests" | "streams" }) {
  const { client, siteId } = useSession();
  const { kind, change } = props;
  const found = useQuery({
    queryKey: ["run", kind, siteId],
    queryFn: async () => {
      if (kind === "streams") {
        const streams = await readAll((query) => ok(client.api.GET("/stream/v1", { params: { query } })));
        return streams.map(({ _id, title }) => ({ value: _id, text: title }));
      }
      const quests = await readAll((query) => ok(client.api.GET("/quest/v2", { params: { query } })));
      return quests.map(({ _id, title }) => ({ value: _id, text: title }));
    },
  });
  return <Choice {...props} choices={found.data} error={found.error} onChange={(targetId) => change({ targetId })} />;
}

interface ChoiceProps extends Omit<Props, "change"> {
  label: string;
  choices: readonly { value: string; text: string }[] | undefined;
  error: unknown;
  onChange: (value: string) => void;
}

function Choice({ label, draft, choices, error, problems, onChange }: ChoiceProps) {
  return (
    <Select
      label={label}
      value={draft.targetId}
      empty={choices ? "Choose…" : "Loading…"}
      options={choices ?? []}
      isLoading={choices === undefined}
      onChange={onChange}
      error={error === null ? problems.targetId : errorText(error)}
    />
  );
}

export function useOverlays() {
  const { client } = useSession();
  return useQuery({
    queryKey: ["run", "overlays"],
    queryFn: (): Promise<Overlay[]> =>
      readAll((page) => ok(client.api.GET("/overlay/v1", { params: { query: { ...page, sortBy: "name", sortDirection: 1 } } }))),
  });
}
