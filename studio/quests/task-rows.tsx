import { choices, useChannels, usePolls } from "#studio/api/lists.ts";
import { Button } from "#studio/ui/button.tsx";
import { Icon } from "#studio/ui/icon.tsx";
import { Select } from "#studio/ui/select.tsx";
import { TextField } from "#studio/ui/text-field.tsx";
import { type FieldsProps, type Kind, KINDS, newTask, type TaskDraft } from "./draft.ts";

const MAX_TASKS = 100;
const OPTIONS = Object.entries(KINDS).map(([value, { text }]) => ({ value, text }));

/** What viewers have to do, in the order in which they see it. */
export function TaskRows({ draft: { tasks }, problems, onChange }: FieldsProps) {
  const put = (index: number, change: Partial<TaskDraft>): void =>
    onChange({ tasks: tasks.map((task, at) => (at === index ? { ...task, ...change } : task)) });
  const move = (from: number, to: number): void => {
    const task = tasks[from];
    if (task) onChange({ tasks: tasks.toSpliced(from, 1).toSpliced(to, 0, task) });
  };
  return (
    <fieldset className="quest-tasks">
      <legend>Tasks</legend>
      <ol>
        {tasks.map((task, index) => (
          <li key={task.arrayId} className="quest-task">
            <div className="quest-task-head">
              <strong>{`Task ${String(index + 1)}`}</strong>
              <Button
                size="icon"
                look="quiet"
                aria-label={`Move task ${String(index + 1)} up`}
                isDisabled={index === 0}
                onPress={() => move(index, index - 1)}
              >
                ↑
              </Button>
              <Button
                size="icon"
                look="quiet"
                aria-label={`Move task ${String(index + 1)} down`}
                isDisabled={index === tasks.length - 1}
                onPress={() => move(index, index + 1)}
              >
                ↓
              </Button>
              <Button
                size="icon"
                look="quiet"
                aria-label={`Remove task ${String(index + 1)}`}
                onPress={() => onChange({ tasks: tasks.toSpliced(index, 1) })}
              >
                ×
              </Button>
            </div>
            <TaskFields
              task={task}
              problem={(field) => problems[`actions.${String(index)}.${field}`]}
              onChange={(change) => put(index, change)}
            />
          </li>
        ))}
      </ol>
      <div>
        <Button size="small" isDisabled={tasks.length >= MAX_TASKS} onPress={() => onChange({ tasks: [...tasks, newTask()] })}>
          <Icon name="plus" />
          Add task
        </Button>
      </div>
    </fieldset>
  );
}

interface TaskProps {
  task: TaskDraft;
  problem: (field: string) => string | undefined;
  onChange: (change: Partial<TaskDraft>) => void;
}

function TaskFields({ task, problem, onChange }: TaskProps) {
  const channels = useChannels();
  const { text, amount, link, window } = KINDS[task.kind];
  return (
    <div className="quest-pair">
      <Select
        label="What viewers do"
        value={task.kind}
        options={OPTIONS}
        onChange={(value) => isKind(value) && onChange({ kind: value, validationValue: "" })}
        error={problem("kind")}
      />
      <TextField
        label="Text"
        placeholder={text}
        value={task.body}
        maxLength={2000}
        onChange={(body) => onChange({ body })}
        error={problem("body")}
      />
      {amount !== undefined && (
        <TextField
          label={amount}
          inputMode="numeric"
          placeholder="1"
          value={task.valueRequired}
          onChange={(valueRequired) => onChange({ valueRequired })}
          error={problem("valueRequired")}
        />
      )}
      <ValueField task={task} problem={problem} onChange={onChange} />
      {link === true && (
        <TextField
          label="Where viewers are sent"
          placeholder="https://"
          value={task.callToAction}
          onChange={(callToAction) => onChange({ callToAction })}
          error={problem("callToAction")}
        />
      )}
      {/^(watch|visit|view)/.test(task.kind) && task.kind !== "visit:channel" && (
        <Select
          label="On the channel"
          value={task.channelId}
          onChange={(channelId) => onChange({ channelId })}
          empty="Any"
          options={choices(channels.data)}
          isLoading={channels.isPending}
          error={problem("channelId")}
        />
      )}
      {(window === true || task.timeMinimum !== "" || task.timeMaximum !== "") && (
        <>
          <TextField
            label="From"
            type="datetime-local"
            value={task.timeMinimum}
            onChange={(timeMinimum) => onChange({ timeMinimum })}
            error={problem("timeMinimum")}
          />
          <TextField
            label="Until"
            type="datetime-local"
            value={task.timeMaximum}
            onChange={(timeMaximum) => onChange({ timeMaximum })}
            error={problem("timeMaximum")}
          />
        </>
      )}
    </div>
  );
}

/** What exactly counts: a poll or channel is chosen from the site's own. */
function ValueField({ task, problem, onChange }: TaskProps) {
  const channels = useChannels();
  const polls = usePolls();
  const { value } = KINDS[task.kind];
  if (value === undefined) return null;
  const change = (validationValue: string): void => onChange({ validationValue });
  const known = value === "Poll" ? polls.data : value === "Channel" ? channels.data : undefined;
  if (value !== "Poll" && value !== "Channel")
    return <TextField label={value} placeholder="Any" value={task.validationValue} onChange={change} error={problem("validationValue")} />;
  return (
    <Select
      label={value}
      value={task.validationValue}
      onChange={change}
      empty="Any"
      options={choices(known)}
      isLoading={known === undefined}
      error={problem("validationValue")}
    />
  );
}

function isKind(text: string): text is Kind {
  return Object.hasOwn(KINDS, text);
}
