import { countDistinct, eq, sql } from "drizzle-orm";
import { z } from "@hono/zod-openapi";
import { calendarCategories } from "#db/schema/calendar.ts";
import type { Ctx } from "#worker/services/core/context.ts";
import { type ListPage, type ListQuery, listRows, type ListSpec, sliceOf } from "#worker/services/core/listing.ts";

// Filters, categories and labels are derived from the site's events; they are not declared separately.

interface Category {
  title: string;
  events: number;
}

interface Label {
  label: string;
  events: number;
}

interface Filter {
  title: string;
  labels: string[];
}

const Labels = z.array(z.string());

const { title, label, eventId, siteId } = calendarCategories;
const events = countDistinct(eventId).as("events");
const labels = sql`json_group_array(distinct ${label})`.mapWith((json: string) => Labels.parse(JSON.parse(json))).as("labels");

const byTitle = {
  table: calendarCategories,
  counted: title,
  id: { by: title, of: (row: { title: string }) => row.title },
  sort: { title: { by: title, of: (row: { title: string }) => row.title } },
  defaultDirection: 1 as const,
  search: { title },
};

const categoryList: ListSpec<Category> = {
  ...byTitle,
  rows: (db, slice) => sliceOf(db.select({ title, events }).from(calendarCategories).groupBy(title).$dynamic(), slice),
};

const filterList: ListSpec<Filter> = {
  ...byTitle,
  rows: (db, slice) => sliceOf(db.select({ title, labels }).from(calendarCategories).groupBy(title).$dynamic(), slice),
};

const labelList: ListSpec<Label> = {
  table: calendarCategories,
  counted: label,
  id: { by: label, of: (row) => row.label },
  rows: (db, slice) => sliceOf(db.select({ label, events }).from(calendarCategories).groupBy(label).$dynamic(), slice),
  sort: { label: { by: label, of: (row) => row.label } },
  defaultDirection: 1,
  search: { label },
};

export function listCategories(ctx: Ctx, query: ListQuery): Promise<ListPage<Category>> {
  return listRows(ctx, categoryList, query, eq(siteId, ctx.siteId));
}

export function listFilters(ctx: Ctx, query: ListQuery): Promise<ListPage<Filter>> {
  return listRows(ctx, filterList, query, eq(siteId, ctx.siteId));
}

/** Lists the labels of one category; empty if no event uses the category. */
export function listLabels(ctx: Ctx, categoryTitle: string, query: ListQuery): Promise<ListPage<Label>> {
  return listRows(ctx, labelList, query, eq(siteId, ctx.siteId), eq(title, categoryTitle));
}
