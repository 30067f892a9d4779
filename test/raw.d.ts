/** A file's text, imported by Vite. */
declare module "*?raw" {
  const text: string;
  export default text;
}

interface ImportMeta {
  /** The texts of the matching files by path, imported by Vite. */
  glob(patterns: string[], options: { query: "?raw"; import: "default"; eager: true }): Record<string, string>;
}
