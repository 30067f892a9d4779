/** What the runner's JSON report holds, as far as the count needs it. */
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
 * Counts a run. A file that breaks off before or after its tests counts as one failure, and so does a run that
 * fails for a reason that stands at no test, or leaves no report at all.
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
