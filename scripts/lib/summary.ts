/** The part of the runner's JSON report that the summary needs. */
export interface TestReport {
  numPassedTests: number;
  testResults: TestFile[];
}

interface TestFile {
  status: string;
  assertionResults: { status: string }[];
}

export interface Summary {
  passed: number;
  failed: number;
}

/**
 * Counts the tests of a run. A file that fails outside its tests counts as one failure, and so does a run that fails
 * for a reason unrelated to a test, or leaves no report.
 */
export function summarise(report: TestReport | undefined, exitCode: number): Summary {
  if (report === undefined) return { passed: 0, failed: 1 };
  const failed = report.testResults.reduce((sum, file) => sum + failures(file), 0);
  return { passed: report.numPassedTests, failed: failed === 0 && exitCode !== 0 ? 1 : failed };
}

function failures(file: TestFile): number {
  const failed = file.assertionResults.filter((test) => test.status === "failed").length;
  return failed === 0 && file.status === "failed" ? 1 : failed;
}
