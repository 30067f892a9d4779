import { Id } from "#worker/lib/schemas/common.ts";
import { eventsOf } from "#worker/services/event-catalogue/event-kind.ts";
import { MINUTE, SAMPLE_MOMENT } from "#worker/services/event-catalogue/sample-ids.ts";
import { Poll } from "./schemas.ts";

const ids = { poll: "5eed0000000000000e006001", answer: "5eed0000000000000e006002", otherAnswer: "5eed0000000000000e006003" };

const ChangedPoll = Poll.extend({ pollId: Id });
const answers = [
  { _id: ids.answer, pollId: ids.poll, answer: "Harbour City", imageUrl: null },
  { _id: ids.otherAnswer, pollId: ids.poll, answer: "Old Dock", imageUrl: null },
];

export const events = eventsOf(
  {
    services: ["poll-service-v3"],
    ids,
    samples: [
      [
        /^poll\./,
        {
          _id: ids.poll,
          pollId: ids.poll,
          type: "prediction",
          question: "Who wins the derby?",
          name: "Derby result",
          answers,
          open: true,
          responsesPerViewer: 1,
          hideResults: false,
          responseCost: 0,
          correctAnswerId: null,
          locksAt: SAMPLE_MOMENT + 45 * MINUTE,
          settled: null,
        },
      ],
      [/^poll\.(closed|settled|deleted)$/, { open: false }],
      [/^poll\.settled$/, { correctAnswerId: ids.answer, settled: SAMPLE_MOMENT }],
    ],
  },
  {
    "poll.closed": { data: ChangedPoll, description: "A poll was closed" },
    "poll.created": { data: Poll, description: "A poll was created" },
    "poll.deleted": { data: Poll, description: "A poll was deleted" },
    "poll.opened": { data: ChangedPoll, description: "A poll was opened" },
    "poll.settled": {
      data: ChangedPoll,
      description: "The correct answer of a poll was set; a later event with another answer corrects it",
    },
    "poll.updated": { data: ChangedPoll, description: "A poll was updated" },
  },
);
