import { useEffect } from "react";
import type { FieldValues, UseFormReturn } from "react-hook-form";
import { localTime } from "#studio/api/form-values.ts";
import { type Resource, valueAt } from "./resource.ts";

/** Moves the end of something when its start is moved, so that it lasts as long as before. */
export function useFollowing({ getValues, setValue, subscribe }: UseFormReturn, follows: Resource["follows"]): void {
  useEffect(() => {
    if (!follows) return;
    let last = timeOf(getValues(), follows.after);
    return subscribe({
      name: follows.after,
      formState: { values: true },
      callback({ values }) {
        const [moved, end] = [timeOf(values, follows.after), timeOf(values, follows.field)];
        // While a date is typed, it is none at times.
        if (moved === null || moved === last) return;
        setValue(follows.field, localTime(laterTime(last, moved, end, follows.unlessSet), "milliseconds"), { shouldDirty: true });
        last = moved;
      },
    });
  }, [getValues, setValue, subscribe, follows]);
}

/** When something ends whose start is moved. */
export function laterTime(start: number | null, moved: number, end: number | null, unlessSet: number): number {
  return moved + (start === null || end === null || end < start ? unlessSet : end - start);
}

function timeOf(values: FieldValues, path: string): number | null {
  const value = valueAt(values, path);
  const time = typeof value === "string" ? new Date(value).getTime() : NaN;
  return Number.isNaN(time) ? null : time;
}
