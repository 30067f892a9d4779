/** Defined at build time by scripts/build-sdk.ts and astro.config.mjs. */
declare const TIFO_SDK_VERSION: string;

// The page's own rules for the element take precedence. Nothing of the page but visibility reaches the contents.
const HOST_CSS = `
:host { display: block; }
:host([hidden]) { display: none; }
.tifo-contents { all: initial; display: contents; visibility: inherit; }
.tifo-contents[hidden] { display: none; }
`;

const loaded = new Map<string, Promise<CSSStyleSheet>>();

/** Adds the SDK's style sheet of the deployment to a shadow tree, after the rules of the element itself. */
export async function addStyles(tree: ShadowRoot, origin: string, hostCss: string): Promise<void> {
  const own = sheetOf(HOST_CSS + hostCss);
  tree.adoptedStyleSheets = [own];
  const sheet = loaded.get(origin) ?? load(origin);
  loaded.set(origin, sheet);
  try {
    const shared = await sheet;
    tree.adoptedStyleSheets = [shared, ...tree.adoptedStyleSheets];
  } catch (error) {
    loaded.delete(origin);
    console.warn("Tifo: the style sheet could not be loaded", error);
  }
}

async function load(origin: string): Promise<CSSStyleSheet> {
  const response = await fetch(`${origin}/sdk/releases/${TIFO_SDK_VERSION}/tifo.css`);
  if (!response.ok) throw new Error(`The deployment returned ${response.status}`);
  registerShare();
  return sheetOf(await response.text());
}

function sheetOf(css: string): CSSStyleSheet {
  const sheet = new CSSStyleSheet();
  sheet.replaceSync(css);
  return sheet;
}

/** The same as the style sheet's `@property` rule, which has no effect in a shadow tree. */
function registerShare(): void {
  try {
    CSS.registerProperty({ name: "--tifo-share", syntax: "<number>", inherits: true, initialValue: "0" });
  } catch {
    // Registered already, or unknown to this browser: then bars jump.
  }
}
