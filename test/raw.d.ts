/** A file's text, imported by Vite. */
declare module "*?raw" {
  const text: string;
  export default text;
}

interface ImportMeta {
  /** The matching modules by path, imported by Vite. */
  glob(pattern: string, options: { eager: true }): Record<string, Record<string, unknown>>;
  /** The texts of the matching files by path, imported by Vite. */
  glob(patterns: string[], options: { query: "?raw"; import: "default"; eager: true }): Record<string, string>;
}
