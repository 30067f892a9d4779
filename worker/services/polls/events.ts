import { Id } from "#worker/lib/schemas/common.ts";
import { eventsOf } from "#worker/services/event-catalogue/event-kind.ts";
import { SAMPLE_IDS, SAMPLE_MOMENT } from "#worker/services/event-catalogue/sample-ids.ts";
import { Poll } from "./schemas.ts";

const ChangedPoll = Poll.extend({ pollId: Id });
const answers = [
  { _id: SAMPLE_IDS.answer, pollId: SAMPLE_IDS.poll, answer: "Harbour City", imageUrl: null },
  { _id: SAMPLE_IDS.otherAnswer, pollId: SAMPLE_IDS.poll, answer: "Old Dock", imageUrl: null },
];

export const events = eventsOf(
  {
    services: ["poll-service-v3"],
    samples: [
      [
        /^poll\./,
        {
          _id: SAMPLE_IDS.poll,
          pollId: SAMPLE_IDS.poll,
          type: "prediction",
          question: "Who wins the derby?",
          name: "Derby result",
          answers,
          open: true,
          responsesPerViewer: 1,
          hideResults: false,
          correctAnswerId: null,
          settled: null,
        },
      ],
      [/^poll\.(closed|settled|deleted)$/, { open: false }],
      [/^poll\.settled$/, { correctAnswerId: SAMPLE_IDS.answer, settled: SAMPLE_MOMENT }],
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
