import { type Control, useFieldArray, useWatch } from "react-hook-form";
import { Button } from "#studio/ui/button.tsx";
import { FormField } from "#studio/ui/form-field.tsx";
import { Icon } from "#studio/ui/icon.tsx";
import { correctAfter, NEW_ANSWER, type PollDraft } from "./draft.ts";

const MAX_ANSWERS = 20;

interface Props {
  control: Control<PollDraft>;
  onCorrect: (position: string) => void;
}

/** The answers, in the order in which viewers see them. */
export function AnswerRows({ control, onCorrect }: Props) {
  const { fields, append, remove, move } = useFieldArray({ control, name: "answers" });
  const [type, correct] = useWatch({ control, name: ["type", "correct"] });
  const moveTo = (from: number, to: number) => {
    move(from, to);
    onCorrect(correctAfter(correct, { moved: [from, to] }));
  };
  return (
    <fieldset className="poll-choices">
      <legend>Answers</legend>
      <ol className="answer-rows">
        {fields.map(({ id }, index) => {
          const name = `Answer ${String(index + 1)}`;
          return (
            <li key={id} className="answer-row">
              <FormField
                control={control}
                name={`answers.${index}.answer`}
                label={name}
                maxLength={200}
                rules={{ validate: (value) => (typeof value === "string" && value.trim() !== "") || "Enter an answer, or remove it." }}
              />
              <FormField
                control={control}
                name={`answers.${index}.imageUrl`}
                label={`Image of answer ${String(index + 1)}`}
                placeholder="https://"
              />
              <div className="answer-tools">
                <Button
                  size="icon"
                  look="quiet"
                  aria-label={`Move ${name} up`}
                  isDisabled={index === 0}
                  onPress={() => moveTo(index, index - 1)}
                >
                  ↑
                </Button>
                <Button
                  size="icon"
                  look="quiet"
                  aria-label={`Move ${name} down`}
                  isDisabled={index === fields.length - 1}
                  onPress={() => moveTo(index, index + 1)}
                >
                  ↓
                </Button>
                <Button
                  size="icon"
                  look="quiet"
                  aria-label={`Remove ${name}`}
                  onPress={() => {
                    remove(index);
                    onCorrect(correctAfter(correct, { removed: index }));
                  }}
                >
                  ×
                </Button>
              </div>
              {type === "trivia" && (
                <label className="answer-correct">
                  <input type="radio" name="correct-answer" checked={correct === String(index)} onChange={() => onCorrect(String(index))} />
                  <span>{name} is correct</span>
                </label>
              )}
            </li>
          );
        })}
      </ol>
      <div>
        <Button size="small" isDisabled={fields.length >= MAX_ANSWERS} onPress={() => append(NEW_ANSWER)}>
          <Icon name="plus" />
          Add answer
        </Button>
      </div>
    </fieldset>
  );
}
