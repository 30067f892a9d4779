import { keepPreviousData, useQuery } from "@tanstack/react-query";
import { Link } from "@tanstack/react-router";
import { useDeferredValue, useState } from "react";
import { labelOf } from "#studio/api/fields.ts";
import { request } from "#studio/api/request.ts";
import { type ApiExcerpt, operationOf, resolve } from "#studio/api/schema.ts";
import { useSession } from "#studio/session/context.tsx";
import { Button } from "#studio/ui/button.tsx";
import { Icon } from "#studio/ui/icon.tsx";
import { PageHeader } from "#studio/ui/page-header.tsx";
import { Select } from "#studio/ui/select.tsx";
import { Empty, ErrorState, Loading } from "#studio/ui/states.tsx";
import { TextField } from "#studio/ui/text-field.tsx";
import { isRecord, type Resource } from "./resource.ts";
import { ResourceTable, type Sorting } from "./resource-table.tsx";

interface Props {
  resource: Resource;
  excerpt: ApiExcerpt;
}

const PAGE = 25;

/** A resource's table with search, filters, order and pages. */
export function ListScreen({ resource, excerpt }: Props) {
  const { access } = useSession();
  const [search, setSearch] = useState("");
  const [filters, setFilters] = useState<Record<string, string>>({});
  const [sorting, setSorting] = useState<Sorting | null>(null);
  /** The cursors of the pages up to this one; the first page has none. */
  const [cursors, setCursors] = useState<string[]>([]);
  const restart = () => setCursors([]);
  const list = useList({ resource, excerpt, search: useDeferredValue(search), filters, sorting, cursor: cursors.at(-1) });
  const isNarrowed = search !== "" || Object.values(filters).some((value) => value !== "");
  return (
    <>
      <PageHeader title={resource.title}>
        {resource.canCreate(access) && (
          <Link to={`${resource.path}/new`} className="button button-primary">
            <Icon name="plus" />
            {`New ${resource.singular}`}
          </Link>
        )}
      </PageHeader>
      <div className="toolbar">
        <TextField
          label="Search"
          type="search"
          maxLength={100}
          value={search}
          onChange={(text) => {
            setSearch(text);
            restart();
          }}
        />
        {filtersOf(resource, excerpt).map(({ name, options }) => (
          <Select
            key={name}
            label={labelOf(name)}
            value={filters[name] ?? ""}
            options={[{ value: "", text: "All" }, ...options]}
            onChange={(value) => {
              setFilters({ ...filters, [name]: value });
              restart();
            }}
          />
        ))}
      </div>
      {list.isPending && <Loading label={`Loading ${resource.title.toLowerCase()}…`} />}
      {list.isError && <ErrorState error={list.error} retry={() => void list.refetch()} />}
      {list.data && !list.isError && list.data.items.length === 0 && (
        <Empty title={isNarrowed ? "Nothing matches." : `There are no ${resource.title.toLowerCase()} yet.`} />
      )}
      {list.data && !list.isError && list.data.items.length > 0 && (
        <>
          <ResourceTable
            resource={resource}
            items={list.data.items}
            sortable={sortableOf(resource, excerpt)}
            sorting={sorting}
            onSort={(next) => {
              setSorting(next);
              restart();
            }}
          />
          <Pages
            total={list.data.total}
            page={cursors.length}
            shown={list.data.items.length}
            next={list.data.next}
            onPrevious={() => setCursors(cursors.slice(0, -1))}
            onNext={(cursor) => setCursors([...cursors, cursor])}
          />
        </>
      )}
    </>
  );
}

interface ListInput extends Props {
  search: string;
  filters: Record<string, string>;
  sorting: Sorting | null;
  cursor: string | undefined;
}

function useList({ resource, excerpt, search, filters, sorting, cursor }: ListInput) {
  const session = useSession();
  const query = { ...filters, limit: PAGE, search: search.trim(), cursor, sortBy: sorting?.by, sortDirection: sorting?.direction };
  return useQuery({
    queryKey: [resource.path, "list", query],
    queryFn: async () => {
      const { data } = await request(session, operationOf(excerpt, resource.operations.list), { query });
      return pageOf(data);
    },
    placeholderData: keepPreviousData,
  });
}

function pageOf(data: unknown): { items: unknown[]; total: number; next: string | null } {
  const page = isRecord(data) ? data : {};
  const items: unknown[] = Array.isArray(page["results"]) ? page["results"] : [];
  const pagination = isRecord(page["pagination"]) ? page["pagination"] : {};
  const { totalCount, next } = pagination;
  const cursor = typeof next === "string" ? new URL(next, location.origin).searchParams.get("cursor") : null;
  return { items, total: typeof totalCount === "number" ? totalCount : items.length, next: cursor };
}

function filtersOf(resource: Resource, excerpt: ApiExcerpt): { name: string; options: { value: string; text: string }[] }[] {
  const { parameters } = operationOf(excerpt, resource.operations.list);
  return (resource.filters ?? []).map((name) => {
    const schema = resolve(parameters.find((parameter) => parameter.name === name)?.schema ?? {}, excerpt);
    const values = schema.type === "boolean" ? ["true", "false"] : (schema.enum ?? []).map(String);
    return { name, options: values.map((value) => ({ value, text: TRUTH[value] ?? labelOf(value) })) };
  });
}

const TRUTH: Record<string, string> = { true: "Yes", false: "No" };

function sortableOf(resource: Resource, excerpt: ApiExcerpt): string[] {
  const { parameters } = operationOf(excerpt, resource.operations.list);
  return (parameters.find(({ name }) => name === "sortBy")?.schema?.enum ?? []).map(String);
}

interface PagesProps {
  total: number;
  page: number;
  shown: number;
  next: string | null;
  onPrevious: () => void;
  onNext: (cursor: string) => void;
}

function Pages({ total, page, shown, next, onPrevious, onNext }: PagesProps) {
  const first = page * PAGE + 1;
  return (
    <div className="table-footer">
      <span className="soft" role="status">{`${String(first)} to ${String(first + shown - 1)} of ${total.toLocaleString("en-GB")}`}</span>
      <div className="page-header-actions">
        <Button size="small" isDisabled={page === 0} onPress={onPrevious}>
          Previous page
        </Button>
        <Button size="small" isDisabled={next === null} onPress={() => next !== null && onNext(next)}>
          Next page
        </Button>
      </div>
    </div>
  );
}
