import { createArea } from "#worker/http/area.ts";
import { tagText, tagVersion } from "#worker/http/conditional.ts";
import { CLIENT, CLIENT_HEADER_OR_QUERY, DEVELOPER_OR_ACCOUNT } from "#worker/http/credentials.ts";
import { asIs, listOf, listQuery, listResponse } from "#worker/services/core/list-schemas.ts";
import { operation } from "#worker/http/operation.ts";
import { IdParam, json, jsonBody } from "#worker/lib/schemas/common.ts";
import { listCategories, listFilters, listLabels } from "#worker/services/events/categories.ts";
import { calendarFeed } from "#worker/services/events/feed.ts";
import {
  createCalendarEvent,
  deleteCalendarEvent,
  getCalendarEvent,
  listCalendarEvents,
  updateCalendarEvent,
  upsertCalendarEvent,
} from "#worker/services/events/calendar.ts";
import {
  CalendarEvent,
  CalendarEventInput,
  CalendarFilter,
  CalendarFilters,
  CategoryCount,
  CategoryParam,
  FeedQuery,
  LabelCount,
  ThirdPartyEventInput,
  toCalendarEvent,
} from "#worker/services/events/schemas.ts";

export const events = createArea();
const tag = "Calendar";

events.openapi(
  operation({
    operationId: "listCalendarEvents",
    tag,
    method: "get",
    path: "/event/v1/event-calendar",
    summary: "List events in a time range",
    description:
      "The events that overlap the range, ordered by start. An event without an end counts as a single moment at its start. Dates are interpreted in `timeZone`: a day on which clocks change has 23 or 25 hours.",
    access: { credentials: CLIENT },
    request: { query: listQuery(["startTimestamp", "titleRaw", "created", "modified"], CalendarFilters) },
    responses: { 200: json("A page of events", listOf(CalendarEvent).openapi("CalendarEventList")) },
  }),
  async (c) => {
    const query = c.req.valid("query");
    return c.json(listResponse(c.req.url, query, await listCalendarEvents(c.get("ctx"), query), toCalendarEvent), 200);
  },
);

events.openapi(
  operation({
    operationId: "createCalendarEvent",
    tag,
    method: "post",
    path: "/event/v1/event-calendar",
    summary: "Create an event",
    description: "Adds an event to the calendar of the site or of one channel. Creators can create events for their own channels.",
    access: { credentials: DEVELOPER_OR_ACCOUNT, accounts: "creator" },
    request: { body: jsonBody(CalendarEventInput) },
    responses: { 201: json("The event", CalendarEvent) },
    errors: ["not_found", "conflict"],
  }),
  async (c) => {
    const event = await createCalendarEvent(c.get("ctx"), c.req.valid("json"));
    tagVersion(c, event);
    return c.json(toCalendarEvent(event), 201);
  },
);

events.openapi(
  operation({
    operationId: "upsertCalendarEvent",
    tag,
    method: "post",
    path: "/event/v1/event-calendar/third-party",
    summary: "Create or replace a third-party event",
    description:
      "Syncs the calendar with a fixture list or ticketing system: creates the event with this thirdPartyEventId (201) or replaces it (200). Safe to retry.",
    access: { credentials: DEVELOPER_OR_ACCOUNT, accounts: "creator" },
    request: { body: jsonBody(ThirdPartyEventInput) },
    responses: { 200: json("The updated event", CalendarEvent), 201: json("The new event", CalendarEvent) },
    errors: ["not_found", "conflict", "precondition_failed"],
  }),
  async (c) => {
    const { event, created } = await upsertCalendarEvent(c.get("ctx"), c.req.valid("json"));
    tagVersion(c, event);
    return c.json(toCalendarEvent(event), created ? 201 : 200);
  },
);

events.openapi(
  operation({
    operationId: "listCalendarFilters",
    tag,
    method: "get",
    path: "/event/v1/event-calendar/filters",
    summary: "List calendar filters",
    description: "Every category with its labels, to use as the `category` and `label` filters of the event list.",
    access: { credentials: CLIENT },
    request: { query: listQuery(["title"], {}) },
    responses: { 200: json("A page of filters", listOf(CalendarFilter).openapi("CalendarFilterList")) },
  }),
  async (c) => {
    const query = c.req.valid("query");
    return c.json(
      listResponse(c.req.url, query, await listFilters(c.get("ctx"), query), (row) => row),
      200,
    );
  },
);

events.openapi(
  operation({
    operationId: "listCalendarCategories",
    tag,
    method: "get",
    path: "/event/v1/event-calendar/categories",
    summary: "List calendar categories",
    description: "The categories of the site's events, with the number of events in each.",
    access: { credentials: CLIENT },
    request: { query: listQuery(["title"], {}) },
    responses: { 200: json("A page of categories", listOf(CategoryCount).openapi("CategoryCountList")) },
  }),
  async (c) => {
    const query = c.req.valid("query");
    return c.json(
      listResponse(c.req.url, query, await listCategories(c.get("ctx"), query), (row) => row),
      200,
    );
  },
);

events.openapi(
  operation({
    operationId: "getCalendarFeed",
    tag,
    method: "get",
    path: "/event/v1/event-calendar/feed.ics",
    summary: "Subscribe to the calendar",
    description:
      "The calendar of the site or of one channel in iCalendar format (RFC 5545), for calendar apps to subscribe to. It contains up to 1,000 events, starting with those that ended at most 30 days ago.",
    access: { credentials: CLIENT_HEADER_OR_QUERY },
    request: { query: FeedQuery },
    responses: { 200: { description: "The calendar", content: { "text/calendar": { schema: { type: "string" } } } } },
    errors: ["not_found"],
  }),
  async (c) => {
    const feed = await calendarFeed(c.get("ctx"), c.req.valid("query").channelId, c.req.url);
    await tagText(c, feed);
    // A shared cache knows the URL alone, which names the site only where the query does.
    const scope = c.req.header("Tifo-Client-Id") === undefined ? "public" : "private";
    const headers = { "Content-Type": "text/calendar; charset=utf-8", "Cache-Control": `${scope}, max-age=300`, Vary: "Tifo-Client-Id" };
    return c.body(feed, 200, headers);
  },
);

events.openapi(
  operation({
    operationId: "listCalendarLabels",
    tag,
    method: "get",
    path: "/event/v1/event-calendar/labels/{categoryTitle}",
    summary: "List a category's labels",
    description: "The labels of this category, with the number of events that have each.",
    access: { credentials: CLIENT },
    request: { params: CategoryParam, query: listQuery(["label"], {}) },
    responses: { 200: json("A page of labels", listOf(LabelCount).openapi("LabelCountList")) },
  }),
  async (c) => {
    const query = c.req.valid("query");
    const page = await listLabels(c.get("ctx"), c.req.valid("param").categoryTitle, query);
    return c.json(listResponse(c.req.url, query, page, asIs), 200);
  },
);

events.openapi(
  operation({
    operationId: "getCalendarEvent",
    tag,
    method: "get",
    path: "/event/v1/event-calendar/{id}",
    summary: "Get an event",
    description: "Returns one calendar event.",
    access: { credentials: CLIENT },
    request: { params: IdParam },
    responses: { 200: json("The event", CalendarEvent) },
    errors: ["not_found"],
  }),
  async (c) => {
    const event = await getCalendarEvent(c.get("ctx"), c.req.valid("param").id);
    tagVersion(c, event);
    return c.json(toCalendarEvent(event), 200);
  },
);

events.openapi(
  operation({
    operationId: "updateCalendarEvent",
    tag,
    method: "put",
    path: "/event/v1/event-calendar/{id}",
    summary: "Update an event",
    description: "Replaces the event. Creators can update the events of their own channels.",
    access: { credentials: DEVELOPER_OR_ACCOUNT, accounts: "creator" },
    request: { params: IdParam, body: jsonBody(CalendarEventInput) },
    responses: { 200: json("The updated event", CalendarEvent) },
    errors: ["not_found", "conflict", "precondition_failed"],
  }),
  async (c) => {
    const event = await updateCalendarEvent(c.get("ctx"), c.req.valid("param").id, c.req.valid("json"));
    tagVersion(c, event);
    return c.json(toCalendarEvent(event), 200);
  },
);

events.openapi(
  operation({
    operationId: "deleteCalendarEvent",
    tag,
    method: "delete",
    path: "/event/v1/event-calendar/{id}",
    summary: "Delete an event",
    description: "Removes the event from the calendar.",
    access: { credentials: DEVELOPER_OR_ACCOUNT, accounts: "creator" },
    request: { params: IdParam },
    responses: { 204: { description: "Deleted" } },
    errors: ["not_found", "conflict", "precondition_failed"],
  }),
  async (c) => {
    await deleteCalendarEvent(c.get("ctx"), c.req.valid("param").id);
    return c.body(null, 204);
  },
);
