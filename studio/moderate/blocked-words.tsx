import { useMutation, useQuery, useQueryClient } from "@tanstack/react-query";
import { type FormEvent, useState } from "react";
import { ok, type Schemas } from "#sdk/client/index.ts";
import { changeLatest, loaded } from "#sdk/client/latest.ts";
import { readAll } from "#sdk/client/lists.ts";
import { useSession } from "#studio/session/context.tsx";
import { Button } from "#studio/ui/button.tsx";
import { errorText } from "#studio/ui/states.tsx";
import { TextField } from "#studio/ui/text-field.tsx";
import { toast } from "#studio/ui/toast.tsx";
import { mergedWords } from "./merged-words.ts";

interface Panel {
  id: string;
  name: string;
  words: string;
}

/** The words that are masked, which belong to the site's chat panels: a room masks those of all chat panels of its channel. */
export function BlockedWords() {
  const { client } = useSession();
  const panels = useQuery({
    queryKey: ["chat-panels"],
    queryFn: async (): Promise<Panel[]> => {
      const found = await readAll((page) => ok(client.api.GET("/panel/v3", { params: { query: { ...page, panel_type: "chat" } } })));
      return found.flatMap(({ _id, renderer }) =>
        renderer.panel_type === "chat" ? [{ id: _id, name: renderer.panel_name, words: blockedBy(renderer) }] : [],
      );
    },
  });
  return (
    <section className="moderate-card card" aria-labelledby="words-title">
      <h2 id="words-title">Blocked words</h2>
      <p className="soft">
        Whole words, whatever their case and accents; each letter becomes an asterisk. A room masks the words of its channel’s chat panels.
      </p>
      {panels.isError && <p className="field-error">{errorText(panels.error)}</p>}
      {panels.data?.length === 0 && <p>The site has no chat panel yet.</p>}
      {panels.data?.map((panel) => (
        <Words key={panel.id} panel={panel} />
      ))}
    </section>
  );
}

function blockedBy(renderer: Schemas["Panel"]["renderer"]): string {
  return renderer.panel_type === "chat" ? (renderer.filtered_words ?? "") : "";
}

function Words({ panel: { id, name, words } }: { panel: Panel }) {
  const { client, access } = useSession();
  const queries = useQueryClient();
  const [base, setBase] = useState(words);
  const [text, setText] = useState(words);
  // What others change shows here at once, beside what is typed.
  if (words !== base) {
    setText(mergedWords(base, text, words));
    setBase(words);
  }
  const save = useMutation({
    mutationFn: () =>
      changeLatest(
        () => loaded(client.api.GET("/panel/v3/{id}", { params: { path: { id } } })),
        ({ renderer }, headers) => {
          const body = { renderer: { filtered_words: mergedWords(base, text, blockedBy(renderer)) } };
          return ok(client.api.PATCH("/panel/v3/{id}", { params: { path: { id } }, body, headers }));
        },
      ),
    onSuccess: () => toast("The words are blocked from now on."),
    onError: (error) => toast(errorText(error), "danger"),
    onSettled: () => queries.invalidateQueries({ queryKey: ["chat-panels"] }),
  });
  const submit = (event: FormEvent): void => {
    event.preventDefault();
    save.mutate();
  };
  return (
    <form className="words" onSubmit={submit}>
      <TextField
        label={name}
        description="Separated by spaces"
        rows={3}
        value={text}
        onChange={setText}
        maxLength={10_000}
        isReadOnly={!access.writesSite}
      />
      {access.writesSite && (
        <Button type="submit" size="small" isDisabled={text === words} isPending={save.isPending}>
          Save words
        </Button>
      )}
    </form>
  );
}
