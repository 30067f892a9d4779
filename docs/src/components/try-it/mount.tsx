import { createRoot } from "react-dom/client";
import { Boundary } from "../boundary.tsx";
import type { Form } from "./request.ts";
import { TryIt } from "./try-it.tsx";

/** Puts the form of an operation, which comes as JSON, into an element. */
export function mountTryIt(element: Element, json: string): void {
  const form: Form = JSON.parse(json);
  createRoot(element).render(
    <Boundary>
      <TryIt form={form} />
    </Boundary>,
  );
}
