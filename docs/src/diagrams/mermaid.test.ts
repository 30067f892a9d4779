import { describe, expect, test } from "vitest";
import { drawDiagram } from "./mermaid.ts";

describe("a diagram", () => {
  test.each([
    ["flowchart LR\n  A[Server] --> B[Tifo]", "Server"],
    ["sequenceDiagram\n  Viewer->>Relay: ping\n  Relay-->>Viewer: welcome", "welcome"],
    ["stateDiagram-v2\n  [*] --> Idle\n  Idle --> [*]", "Idle"],
  ])("is drawn with its labels and a name: %s", (source, label) => {
    const svg = drawDiagram(source, "How it goes");
    expect(svg).toContain(label);
    expect(svg).toContain('role="img" aria-label="How it goes"');
  });

  test("fetches nothing and styles only itself", () => {
    const svg = drawDiagram("flowchart LR\n  A --> B", "A to B");
    expect(svg).not.toMatch(/https?:|<style|@import/);
  });

  test("is as large as its smallest text needs to have 13 pixels", () => {
    const svg = drawDiagram("flowchart LR\n  A -->|sends| B", "A to B");
    const boxWidth = Number(/viewBox="[\d.]+ [\d.]+ ([\d.]+)/.exec(svg)?.[1]);
    const width = Number(/ width="(\d+)"/.exec(svg)?.[1]);
    const sizes = [...svg.matchAll(/font-size="([\d.]+)"/g)].map(([, size]) => Number(size));
    expect((Math.min(...sizes) * width) / boxWidth).toBeGreaterThanOrEqual(13);
  });

  test("shares no id with another on the same page", () => {
    const ids = (source: string) => [...drawDiagram(source, "x").matchAll(/ id="([^"]+)"/g)].map(([, id]) => id);
    const all = [...ids("flowchart LR\n  A --> B"), ...ids("flowchart LR\n  A --> C")];
    expect(all.length).toBeGreaterThan(0);
    expect(new Set(all).size).toBe(all.length);
  });

  test("of a sequence has its messages as a list for narrow windows", () => {
    const source =
      "sequenceDiagram\n  participant App as Your <app>\n  App->>Tifo: checkout\n  Tifo->>Tifo: record\n  Note over Tifo: waits\n  Tifo-->>App: url";
    expect(drawDiagram(source, "x")).toContain(
      "<ol><li><b>Your &lt;app> → Tifo</b>: checkout</li><li><b>Tifo</b>: record</li><li>waits</li><li><b>Tifo → Your &lt;app></b>: url</li></ol>",
    );
  });

  test("of boxes and arrows has its arrows as a list for narrow windows", () => {
    const source = "flowchart TD\n  App --> API[REST <API>]\n  API -->|starts, stops| Stream[Stream provider]\n  Stream --> App[Your app]";
    expect(drawDiagram(source, "x")).toContain(
      "<ul><li><b>Your app → REST &lt;API></b></li><li><b>REST &lt;API> → Stream provider</b>: starts, stops</li><li><b>Stream provider → Your app</b></li></ul>",
    );
  });

  test.each([
    ["a group", "flowchart TD\n  subgraph Server\n  A --> B\n  end"],
    ["a chain", "flowchart TD\n  A --> B --> C"],
    ["states", "stateDiagram-v2\n  [*] --> Idle\n  Idle --> [*]"],
  ])("with %s has no list, and scrolls", (_, source) => {
    expect(drawDiagram(source, "x")).not.toMatch(/<[ou]l>/);
  });

  test("without connections fails the build", () => {
    expect(() => drawDiagram("flowchart LR\n A-->B", "x")).toThrow("Nothing is connected");
  });

  test("of an unsupported kind fails the build", () => {
    expect(() => drawDiagram("gantt\n title x", "x")).toThrow("not: gantt");
  });

  test("escapes its caption and source in attributes", () => {
    expect(drawDiagram('flowchart LR\n  A["a"] --> B', 'Say "hi"')).toContain('aria-label="Say &quot;hi&quot;"');
  });
});
