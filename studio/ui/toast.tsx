import { useSyncExternalStore } from "react";
import { Button } from "./button.tsx";
import "./toast.css";

interface Toast {
  id: number;
  text: string;
  tone: "success" | "danger";
}

const SHOWN_MS = 6000;
const listeners = new Set<() => void>();
let toasts: readonly Toast[] = [];
let lastId = 0;

/** Says what happened, in a corner of the screen. Errors stay until they are closed. */
export function toast(text: string, tone: Toast["tone"] = "success"): void {
  const id = ++lastId;
  update([...toasts.slice(-3), { id, text, tone }]);
  if (tone === "success") setTimeout(() => close(id), SHOWN_MS);
}

function close(id: number): void {
  update(toasts.filter((shown) => shown.id !== id));
}

function update(next: readonly Toast[]): void {
  toasts = next;
  for (const notify of listeners) notify();
}

function subscribe(notify: () => void): () => void {
  listeners.add(notify);
  return () => listeners.delete(notify);
}

/** Always in the page: screen readers announce what is added to a live region, not a region that is added. */
export function Toaster() {
  const shown = useSyncExternalStore(subscribe, () => toasts);
  return (
    <div className="toaster" role="log" aria-label="Notifications" aria-live="polite">
      {shown.map(({ id, text, tone }) => (
        <div key={id} className={`toast toast-${tone}`}>
          <span>{text}</span>
          <Button look="quiet" size="icon" aria-label="Close" onPress={() => close(id)}>
            ×
          </Button>
        </div>
      ))}
    </div>
  );
}
