import { createRoot } from "react-dom/client";
import { Boundary } from "../boundary.tsx";
import type { Form } from "./request.ts";
import { TryIt } from "./try-it.tsx";
// As a style sheet it would be part of every operation's page.
import css from "./try-it.css?inline";

const sheet = new CSSStyleSheet();
sheet.replaceSync(css);
document.adoptedStyleSheets.push(sheet);

/** Renders the form of an operation, passed as JSON, into an element. */
export function mountTryIt(element: Element, json: string): void {
  const form: unknown = JSON.parse(json);
  if (!isForm(form)) throw new Error("The page doesn't describe the operation.");
  createRoot(element).render(
    <Boundary>
      <TryIt form={form} />
    </Boundary>,
  );
}

/** The page is built with the form's type, so checking that it isn't empty is enough. */
function isForm(value: unknown): value is Form {
  return typeof value === "object" && value !== null && "path" in value && "fields" in value;
}
