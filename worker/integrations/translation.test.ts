import { env } from "cloudflare:workers";
import { afterEach, describe, expect, test, vi } from "vitest";
import { z } from "@hono/zod-openapi";
import { holdTimers, newAiDeployment, newChatDeployment } from "#test/chat-service-calls.ts";
import { hasTranslation, translateTexts } from "./translation.ts";

const TIMEOUT_MS = 10_000;
const Input = z.strictObject({ text: z.string(), source_lang: z.string(), target_lang: z.string() });

const unknown = (...texts: string[]) => texts.map((text) => ({ text, language: null }));

afterEach(() => {
  vi.restoreAllMocks();
});

test("a deployment without configuration has no translation service", () => {
  expect(hasTranslation(env)).toBe(false);
  expect(hasTranslation(newChatDeployment().env)).toBe(true);
});

describe("A translation service", () => {
  test("translates all texts in one call and reports their languages", async () => {
    const deployment = newChatDeployment();
    expect(await translateTexts(deployment.env, unknown("Bonjour", "Hello 🎉"), "pt-BR")).toEqual([
      { text: "[pt] Bonjour", detected: "fr" },
      { text: "[pt] Hello 🎉", detected: "en" },
    ]);
    const [call, ...others] = await deployment.calls();
    expect(others).toEqual([]);
    expect(call?.body).toEqual({ q: ["Bonjour", "Hello 🎉"], source: "auto", target: "pt", format: "text" });
  });

  test("receives the key of the deployment", async () => {
    const deployment = newChatDeployment({ TIFO_TRANSLATE_KEY: "secret" });
    await translateTexts(deployment.env, unknown("Hello"), "de");
    expect((await deployment.calls()).map(({ body }) => body)).toMatchObject([{ api_key: "secret" }]);
  });

  test("leaves out texts that are already in the language, and empty or overlong translations", async () => {
    const { env } = newChatDeployment();
    const translated = await translateTexts(env, unknown("Guten Tag", "empty", "long", "Hello"), "de-AT");
    expect(translated).toEqual([undefined, undefined, undefined, { text: "[de] Hello", detected: "en" }]);
  });

  test.each(["fail", "reject", "garbage", "flood", "redirect", "short"] as const)("fails if its response is: %s", async (behaviour) => {
    const deployment = newChatDeployment();
    await deployment.behave(behaviour);
    await expect(translateTexts(deployment.env, unknown("One", "Two"), "de")).rejects.toThrow();
    expect((await deployment.calls()).map(({ path }) => path)).toEqual(["translate"]);
    await deployment.behave("succeed");
    expect(await translateTexts(deployment.env, unknown("One"), "de")).toEqual([{ text: "[de] One", detected: "en" }]);
  });

  test("fails if it doesn't respond within 10 s", async () => {
    const deployment = newChatDeployment();
    await deployment.behave("hang");
    holdTimers(TIMEOUT_MS, async () => (await deployment.calls()).length > 0);
    await expect(translateTexts(deployment.env, unknown("Hello"), "de")).rejects.toThrow();
  });

  test("may only be a public https host outside development", async () => {
    const deployment = newChatDeployment();
    const deployed = { ...deployment.env, TIFO_DEVELOPMENT: "false" };
    await expect(translateTexts(deployed, unknown("Hello"), "de")).rejects.toThrow("may not be called");
    expect(await deployment.calls()).toEqual([]);
  });
});

describe("The Workers AI model", () => {
  test("translates each text from its language, or from English", async () => {
    const inputs: z.infer<typeof Input>[] = [];
    const deployed = newAiDeployment((model, input) => {
      expect(model).toBe("@cf/meta/m2m100-1.2b");
      const parsed = Input.parse(input);
      inputs.push(parsed);
      return Promise.resolve({ translated_text: `[${parsed.target_lang}] ${parsed.text}` });
    });
    const texts = [{ text: "Salut", language: "fr-CA" }, { text: "Hallo", language: "de" }, ...unknown("Hello")];
    expect(await translateTexts(deployed, texts, "de-AT")).toEqual([
      { text: "[de] Salut", detected: null },
      undefined,
      { text: "[de] Hello", detected: null },
    ]);
    expect(inputs.map(({ source_lang }) => source_lang)).toEqual(["fr", "en"]);
  });

  test("runs at most six times at once", async () => {
    let [running, most] = [0, 0];
    const deployed = newAiDeployment(async (_, input) => {
      most = Math.max(most, ++running);
      await new Promise((resolve) => setTimeout(resolve, 1));
      running--;
      return { translated_text: Input.parse(input).text.toUpperCase() };
    });
    const texts = Array.from({ length: 50 }, (_, index) => `text ${index}`);
    const translated = await translateTexts(deployed, unknown(...texts), "de");
    expect(translated.map((translation) => translation?.text)).toEqual(texts.map((text) => text.toUpperCase()));
    expect(most).toBe(6);
  });

  test("leaves out a text that it can't translate, and fails if it translates none", async () => {
    const deployed = newAiDeployment((_, input) => {
      const { text } = Input.parse(input);
      return text === "bad" ? Promise.reject(new Error("5006: Invalid input")) : Promise.resolve({ translated_text: `[de] ${text}` });
    });
    expect(await translateTexts(deployed, unknown("bad", "good"), "de")).toEqual([undefined, { text: "[de] good", detected: null }]);
    await expect(translateTexts(deployed, unknown("bad", "bad"), "de")).rejects.toThrow("Invalid input");
  });

  test("fails if it doesn't respond, and gets no further texts then", async () => {
    let runs = 0;
    const deployed = newAiDeployment(() => {
      runs++;
      return new Promise(() => undefined);
    });
    const now = vi.spyOn(Date, "now").mockReturnValue(0);
    holdTimers(TIMEOUT_MS, () => {
      now.mockReturnValue(TIMEOUT_MS);
      return true;
    });
    await expect(translateTexts(deployed, unknown(...Array.from({ length: 50 }, () => "Hello")), "de")).rejects.toThrow();
    expect(runs).toBe(6);
  });

  test("needs a binding", async () => {
    const deployed = { ...env, TIFO_TRANSLATE_URL: "workers-ai" };
    await expect(translateTexts(deployed, unknown("Hello"), "de")).rejects.toThrow("no Workers AI binding named AI");
  });
});
