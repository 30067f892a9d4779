export interface Sample {
  label: string;
  /** As a fence's language. */
  language: "sh" | "js" | "python" | "swift" | "kotlin";
  code: string;
}
