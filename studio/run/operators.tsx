import type { Rundown } from "./model.ts";

/** Who has the rundown open. */
export function Operators({ operators }: { operators: Rundown["operators"] }) {
  if (operators.length === 0) return null;
  return (
    <ul className="operators" aria-label="Operators">
      {operators.map(({ id, kind, name, isCaller }) => (
        <li key={`${kind} ${id}`} className="operator" data-own={isCaller}>
          {name ?? "Deleted operator"}
          {isCaller && " (you)"}
        </li>
      ))}
    </ul>
  );
}
