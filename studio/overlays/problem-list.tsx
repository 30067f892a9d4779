import type { Problem } from "./problems.ts";

export interface PlacedProblem extends Problem {
  line: number;
}

interface Props {
  problems: readonly PlacedProblem[];
  onShow: (problem: PlacedProblem) => void;
}

/** The problems of the text, each of which leads to its place. */
export function ProblemList({ problems, onShow }: Props) {
  return (
    <>
      {/* Only the count is announced: the list changes while somebody types. */}
      <span className="code-status" role="status">
        {problems.length > 0 && (problems.length === 1 ? "1 problem" : `${problems.length} problems`)}
      </span>
      {problems.length > 0 && (
        <ul className="code-problems" aria-label="Problems">
          {problems.map((problem) => (
            <li key={`${problem.from} ${problem.message}`}>
              <button type="button" onClick={() => onShow(problem)}>
                <span className="code-line">Line {problem.line}</span> {problem.message}
              </button>
            </li>
          ))}
        </ul>
      )}
    </>
  );
}
