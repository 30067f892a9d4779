import { useState } from "react";
import { problemText } from "../../problem-text.ts";

/** Runs a request at a time, and keeps the message of one that failed. */
export function useAction() {
  const [isRunning, setRunning] = useState(false);
  const [problem, setProblem] = useState("");

  /** Returns whether the request succeeded. `otherwise` is shown for an error without a message of the API. */
  async function run(work: () => Promise<void>, otherwise: string): Promise<boolean> {
    setRunning(true);
    setProblem("");
    try {
      await work();
      return true;
    } catch (error) {
      setProblem(problemText(error, otherwise));
      return false;
    } finally {
      setRunning(false);
    }
  }

  return { isRunning, problem, run };
}
