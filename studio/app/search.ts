import { useNavigate, useSearch as useRouterSearch } from "@tanstack/react-router";
import { useCallback, useEffect, useState } from "react";

/** What a screen keeps in its address, so that a reload, a link or "back" shows the same. Values are plain texts. */
export type Search = Readonly<Record<string, string>>;

/** Reads the query of the address and changes parts of it; an empty text removes one. */
export function useSearch(): [Search, (changes: Search) => void] {
  const found: Record<string, unknown> = useRouterSearch({ strict: false });
  const navigate = useNavigate();
  const change = useCallback(
    (changes: Search) => {
      const search = (previous: Record<string, unknown>) => withoutEmpty({ ...previous, ...changes });
      void navigate({ to: ".", search, replace: true, resetScroll: false });
    },
    [navigate],
  );
  return [withoutEmpty(found), change];
}

function withoutEmpty(search: Record<string, unknown>): Record<string, string> {
  return Object.fromEntries(
    Object.entries(search).flatMap(([name, value]) => (typeof value === "string" && value !== "" ? [[name, value]] : [])),
  );
}

/** Addresses have texts as they are: "1" isn't a number, and "true" isn't a boolean. */
export const plainSearch = {
  parseSearch: (text: string): Record<string, string> => Object.fromEntries(new URLSearchParams(text)),
  stringifySearch(search: Record<string, unknown>): string {
    const text = new URLSearchParams(withoutEmpty(search)).toString();
    return text === "" ? "" : `?${text}`;
  },
};

const TYPING_MS = 250;

/** A text that is typed, and follows in the address when the typing pauses. A new one starts on the first page. */
export function useSearchText(name: string): [string, (text: string) => void] {
  const [search, setSearch] = useSearch();
  const current = search[name] ?? "";
  const [text, setText] = useState(current);
  useEffect(() => {
    if (text === current) return;
    const timer = setTimeout(() => setSearch({ [name]: text, page: "" }), TYPING_MS);
    return () => clearTimeout(timer);
  }, [text, current, name, setSearch]);
  return [text, setText];
}

const LAST_PAGE = 100_000;

/** The page of a list, from 0; the address counts from 1. */
export function pageOfSearch(search: Search): number {
  const page = Number(search["page"] ?? "1");
  return Number.isInteger(page) && page > 0 && page <= LAST_PAGE ? page - 1 : 0;
}
