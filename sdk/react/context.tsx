import { createContext, type ReactNode, use, useSyncExternalStore } from "react";
import { type SdkContext, sdkContextOf } from "../core/sdk-context.ts";
import type { UserSettings } from "../model/configuration.ts";
import type { QuestionStore, TifoEventViewModel } from "../model/event-interface.ts";
import type { QuestionsState, TifoEventState } from "../model/state.ts";
import type { Texts } from "../i18n/texts.ts";

const lateSheets: CSSStyleSheet[] = [];
const shadowTrees = new Set<ShadowRoot>();

/** Rules that components add when they are first shown, and where. Here, because the files of the release share this module. */
export const lateStyles = {
  /** Adds rules to the document, and to the shadow trees that it doesn't reach. */
  add(sheet: CSSStyleSheet): void {
    lateSheets.push(sheet);
    for (const tree of [document, ...shadowTrees]) tree.adoptedStyleSheets.push(sheet);
  },
  /** Adds the rules to a shadow tree too. Returns a function that keeps later ones out of it. */
  follow(tree: ShadowRoot): () => void {
    shadowTrees.add(tree);
    tree.adoptedStyleSheets.push(...lateSheets.filter((sheet) => !tree.adoptedStyleSheets.includes(sheet)));
    return () => shadowTrees.delete(tree);
  },
};

const SdkReactContext = createContext<SdkContext | null>(null);

/** Provides components with their event, as returned by `userDidStartWatchingEvent`. Throws `TypeError` for any other object. */
export function TifoEventProvider({ event, children }: { event: TifoEventViewModel; children?: ReactNode }) {
  return <SdkContextProvider context={sdkContextOf(event)}>{children}</SdkContextProvider>;
}

export function SdkContextProvider({ context, children }: { context: SdkContext; children?: ReactNode }) {
  return <SdkReactContext value={context}>{children}</SdkReactContext>;
}

export function useSdkContext(): SdkContext {
  const context = use(SdkReactContext);
  if (!context) throw new Error("Tifo: this component must be inside a TifoEventProvider");
  return context;
}

/**
 * The event's state; the component renders again after every change. With `select`, only if the selected part changes: a value, or an
 * object of the state, which keeps its identity until it changes.
 */
export function useEventState(): TifoEventState;
export function useEventState<T>(select: (state: TifoEventState) => T): T;
export function useEventState<T>(select?: (state: TifoEventState) => T): T | TifoEventState {
  const { event } = useSdkContext();
  const read = () => (select ? select(event.getSnapshot()) : event.getSnapshot());
  return useSyncExternalStore(event.subscribe, read, read);
}

/** The channel's questions and what can be done with them. They are loaded while a component uses them. */
export function useQuestions(): { state: QuestionsState; questions: QuestionStore } {
  const { questions } = useSdkContext().event;
  return { state: useSyncExternalStore(questions.subscribe, questions.getSnapshot, questions.getSnapshot), questions };
}

/** The SDK's own texts in the viewer's language; the component renders again when another one is loaded. */
export function useTexts(): Texts {
  const { texts } = useSdkContext().session;
  return useSyncExternalStore(texts.subscribe, texts.getSnapshot, texts.getSnapshot);
}

export function useSettings(): UserSettings {
  const { settings } = useSdkContext();
  return useSyncExternalStore(settings.subscribe, settings.getSnapshot, settings.getSnapshot);
}
