import { BlobWriter, TextReader, Uint8ArrayReader, ZipWriter } from "@zip.js/zip.js/lib/zip-core-custom.js";

// Graphics of our own, written to OGraf's specification.

export const MANIFEST = {
  $schema: "https://ograf.ebu.io/v1/specification/json-schemas/graphics/schema.json",
  id: "example.lower-third",
  version: "3",
  name: "Lower third",
  description: "A name and a role",
  author: { name: "Harbour City TV" },
  main: "scripts/lower-third.mjs",
  supportsRealTime: true,
  supportsNonRealTime: false,
  stepCount: 2,
  schema: {
    type: "object",
    required: ["name"],
    properties: {
      name: { type: "string", title: "Name", default: "Somebody", maxLength: 60 },
      role: { type: "string", gddType: "single-line" },
      color: { type: "string", gddType: "color-rrggbb", pattern: "^#[0-9a-f]{6}$", default: "#0b5fff" },
      seconds: { type: "integer", gddType: "duration-ms", minimum: 0 },
      lines: { type: "array", items: { type: "string" } },
    },
  },
  customActions: [
    { id: "blink", name: "Blink", schema: null },
    { id: "tint", name: "Tint", schema: { type: "object", required: ["color"], properties: { color: { type: "string" } } } },
  ],
  renderRequirements: [{ resolution: { width: { min: 800, ideal: 1280 } } }],
  v_editor: { anything: true },
};

/** Logs each call in an attribute, shows its data, and loads a style and an image of its own. */
export const SCRIPT = `export default class LowerThird extends HTMLElement {
  #calls = [];
  #log(name, params) {
    this.#calls.push(name);
    this.dataset.calls = this.#calls.join(" ");
    this.dataset.params = JSON.stringify(params);
  }
  async load(params) {
    const image = new Image();
    image.src = import.meta.resolve("../images/crest.svg");
    await image.decode();
    const name = document.createElement("p");
    name.style.cssText = "position:absolute;left:5%;bottom:10%;margin:0;opacity:0;font-size:48px;background:#fff";
    this.append(name, image);
    this.#log("load", params);
    this.#data = params.data;
    return { statusCode: 200 };
  }
  set #data(data) {
    this.firstElementChild.textContent = [data.name, data.role].filter(Boolean).join(", ");
    this.firstElementChild.style.color = data.color;
  }
  async playAction(params) {
    this.#log("play", params);
    this.firstElementChild.style.opacity = 1;
    return { statusCode: 200, currentStep: 0 };
  }
  async updateAction(params) {
    this.#log("update", params);
    this.#data = params.data;
  }
  async stopAction(params) {
    this.#log("stop", params);
    this.firstElementChild.style.opacity = 0;
  }
  async customAction(params) {
    this.#log("custom:" + params.id, params);
  }
  async dispose(params) {
    this.#log("dispose", params);
    this.replaceChildren();
  }
}
`;

export const FILES: Record<string, string> = {
  "lower-third.ograf.json": JSON.stringify(MANIFEST),
  "scripts/lower-third.mjs": SCRIPT,
  "images/crest.svg": '<svg xmlns="http://www.w3.org/2000/svg" width="8" height="8"><rect width="8" height="8"/></svg>',
};

/** The content of a file, with its Unix mode if that matters. */
export type ZipEntry = string | Uint8Array<ArrayBuffer> | { content: string; unixMode: number };

/** An archive with these files. */
export async function zipOf(files: Record<string, ZipEntry> = FILES, options: { level?: number; password?: string } = {}): Promise<Blob> {
  const writer = new ZipWriter(new BlobWriter("application/zip"), { useWebWorkers: false, ...options });
  for (const [path, entry] of Object.entries(files)) {
    if (entry instanceof Uint8Array) await writer.add(path, new Uint8ArrayReader(entry));
    else if (typeof entry === "string") await writer.add(path, new TextReader(entry));
    else await writer.add(path, new TextReader(entry.content), { unixMode: entry.unixMode });
  }
  return writer.close();
}

/** A form with an archive. */
export async function graphicForm(files: Record<string, ZipEntry> = FILES): Promise<FormData> {
  const form = new FormData();
  form.set("file", new File([await zipOf(files)], "graphic.zip", { type: "application/zip" }));
  return form;
}
