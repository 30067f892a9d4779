// The document around a graphic. Its script is served as it stands, and identified by its hash in the document's policy.

export const FRAME_STYLE = `
html, body { width: 100%; height: 100%; margin: 0; overflow: hidden; background: transparent; }
tifo-graphic { position: absolute; inset: 0; display: block; }
`;

/**
 * Receives `{ type: "tifo.graphic", number, method, params }` from the page that holds it, and calls the graphic's methods in the order of
 * arrival: `load` is awaited, as OGraf wants it; after it, actions are called at once, and may overlap. Answers each with
 * `{ type: "tifo.graphic.done", number, statusCode, statusMessage, currentStep, text }`.
 */
export const FRAME_SCRIPT = `
const METHODS = ["load", "playAction", "updateAction", "stopAction", "customAction", "dispose"];
const files = new URL("files/", location.href);
let graphic;
let ready;

async function load(params) {
  const { default: Graphic } = await import(new URL(document.body.dataset.main.split("/").map(encodeURIComponent).join("/"), files).href);
  customElements.define("tifo-graphic", Graphic);
  graphic = document.createElement("tifo-graphic");
  document.body.append(graphic);
  return graphic.load(params);
}

function nextFrame() {
  return new Promise((resolve) => {
    // A hidden page draws no frames.
    const timer = setTimeout(resolve, 200);
    requestAnimationFrame(() => requestAnimationFrame(() => { clearTimeout(timer); resolve(); }));
  });
}

async function call(method, params) {
  if (method === "load") return (ready ??= load(params));
  await ready;
  if (!graphic) throw new Error("The graphic isn't loaded");
  return graphic[method](params);
}

/** What viewers can read in it. An element with a shadow tree renders that instead of its children. */
function textOf(element) {
  const inner = [...(element?.shadowRoot?.children ?? [])].filter(({ localName }) => localName !== "style" && localName !== "script");
  const text = inner.length > 0 ? inner.map(({ innerText }) => innerText ?? "").join(" ") : element?.innerText ?? "";
  return text.replace(/\\s+/g, " ").trim().slice(0, 2000);
}

async function perform({ number, method, params }) {
  const done = { type: "tifo.graphic.done", number, statusCode: 200, statusMessage: "", currentStep: null, text: "" };
  try {
    // An entrance may take long; the graphic is visible before it ends.
    const result = await Promise.race([call(method, params), ...(method === "playAction" ? [ready?.then(nextFrame)] : [])]);
    if (typeof result?.statusCode === "number") done.statusCode = result.statusCode;
    if (typeof result?.statusMessage === "string") done.statusMessage = result.statusMessage.slice(0, 500);
    done.text = textOf(graphic);
  } catch (error) {
    done.statusCode = 500;
    done.statusMessage = String(error?.message ?? error).slice(0, 500);
  }
  parent.postMessage(done, "*");
}

addEventListener("message", ({ source, data }) => {
  if (source === parent && data?.type === "tifo.graphic" && METHODS.includes(data.method)) void perform(data);
});
// A link in a graphic leads nowhere: the call to action is a button of the page.
addEventListener("click", (event) => event.preventDefault(), true);
`;
