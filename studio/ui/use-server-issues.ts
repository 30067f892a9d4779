import { useState } from "react";
import type { FieldPath, FieldValues, UseFormReturn } from "react-hook-form";
import { TifoProblem } from "#sdk/client/index.ts";
import { errorText } from "#studio/ui/states.tsx";

/** Runs a form's work; what the server objects to is shown at the field with its path, everything else above the form. */
export function useServerIssues<Fields extends FieldValues>(
  form: UseFormReturn<Fields>,
  fieldOf: (path: string) => FieldPath<Fields> | null,
) {
  const [problem, setProblem] = useState<string | null>(null);
  async function run(work: () => Promise<void>): Promise<void> {
    setProblem(null);
    try {
      await work();
    } catch (error) {
      const issues = error instanceof TifoProblem ? error.issues : [];
      const shown = issues.flatMap(({ path, message }) => {
        const field = fieldOf(path);
        return field === null ? [] : [{ field, message }];
      });
      for (const { field, message } of shown) form.setError(field, { message });
      const [first] = shown;
      if (first) form.setFocus(first.field);
      else setProblem(errorText(error));
    }
  }
  return { problem, run };
}
