export interface Sample {
  label: string;
  /** As a fence's language. */
  language: "sh" | "js" | "ts" | "python" | "go" | "php" | "swift" | "kotlin";
  code: string;
}
