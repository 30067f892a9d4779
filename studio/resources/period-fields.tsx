import type { Search } from "#studio/app/search.ts";
import { Select } from "#studio/ui/select.tsx";
import { TextField } from "#studio/ui/text-field.tsx";
import { type Period, PERIODS } from "./period.ts";

interface Props {
  period: Period;
  /** Whether the last day is before the first. */
  isReversed: boolean;
  onChange: (change: Search) => void;
}

/** The choice of a list's period. */
export function PeriodFields({ period, isReversed, onChange }: Props) {
  return (
    <>
      <Select label="Period" value={period.name} options={PERIODS} onChange={(name) => onChange({ period: name, page: "" })} />
      {period.name === "days" && (
        <>
          <TextField label="First day" type="date" value={period.from} onChange={(from) => onChange({ from, page: "" })} />
          <TextField
            label="Last day"
            type="date"
            value={period.to}
            onChange={(to) => onChange({ to, page: "" })}
            error={isReversed ? "This is before the first day." : undefined}
          />
        </>
      )}
    </>
  );
}
