import { expect, it } from "vitest";
import { summarise, type TestReport } from "./summary.ts";

const passing: TestReport = {
  numPassedTests: 2,
  testResults: [{ status: "passed", assertionResults: [{ status: "passed" }, { status: "passed" }] }],
};

it("counts passed and failed tests", () => {
  const report = {
    numPassedTests: 1,
    testResults: [{ status: "failed", assertionResults: [{ status: "passed" }, { status: "failed" }, { status: "failed" }] }],
  };
  expect(summarise(report, 1)).toEqual({ passed: 1, failed: 2 });
  expect(summarise(passing, 0)).toEqual({ passed: 2, failed: 0 });
});

it("counts a file that fails outside its tests as one failure", () => {
  const report = { numPassedTests: 2, testResults: [...passing.testResults, { status: "failed", assertionResults: [] }] };
  expect(summarise(report, 1)).toEqual({ passed: 2, failed: 1 });
});

it("counts a run that fails without a failed test, or without a report, as one failure", () => {
  expect(summarise(passing, 1)).toEqual({ passed: 2, failed: 1 });
  expect(summarise(undefined, 0)).toEqual({ passed: 0, failed: 1 });
});
