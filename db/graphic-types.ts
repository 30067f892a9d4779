// What rows have of OGraf graphics.

/** What broadcasts need to know of a graphic. */
export interface GraphicSnapshot {
  /** JSON Schema of its data. */
  schema: Record<string, unknown>;
  /** In CSS pixels. */
  width: number;
  /** The schemas of its custom actions' payloads, by id. */
  actions: Record<string, Record<string, unknown> | null>;
}

/** A file of an uploaded graphic. */
export interface GraphicFile {
  path: string;
  contentType: string;
  /** Bytes. */
  size: number;
}

/** The manifest of an OGraf graphic, as uploaded. */
export type GraphicManifest = Record<string, unknown>;
