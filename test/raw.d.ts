/** A file's text, as Vite imports it. */
declare module "*?raw" {
  const text: string;
  export default text;
}

interface ImportMeta {
  /** The texts of the files that fit, by path, as Vite imports them. */
  glob(patterns: string[], options: { query: "?raw"; import: "default"; eager: true }): Record<string, string>;
}
