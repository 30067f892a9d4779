import { unlisted } from "./select.tsx";
import "./checks.css";

interface Props {
  options: readonly { value: string; text: string }[];
  chosen: readonly string[];
  onChange: (chosen: string[]) => void;
  /** The options aren't known yet. */
  isLoading?: boolean;
}

/** A checkbox for each option, and for what is chosen without being one: what has been deleted can be unticked. */
export function Checks({ options, chosen, onChange, isLoading }: Props) {
  const known = new Set(options.map(({ value }) => value));
  const others = chosen.filter((value) => !known.has(value)).map((value) => ({ value, text: unlisted(value, isLoading) }));
  return [...options, ...others].map(({ value, text }) => (
    <label key={value} className="check">
      <input
        type="checkbox"
        checked={chosen.includes(value)}
        onChange={({ target }) => onChange(target.checked ? [...chosen, value] : chosen.filter((other) => other !== value))}
      />
      {text}
    </label>
  ));
}
