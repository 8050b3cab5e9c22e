import { create } from "@bufbuild/protobuf";
import {
  ListPostsRequestSchema,
  ValidatePostRequestSchema,
} from "@postrider/contracts/posts/v1/post_service_pb";
import { isId } from "@postrider/shared/ids";
import {
  decodeCursor,
  deriveCursorKeys,
  requireTextCursor,
} from "@postrider/shared/secrets/list-cursor";
import { expectLinear } from "@postrider/shared/testing/expect-linear";
import { expect, test } from "vitest";
import { firstFreeSlots, nextFreeSlots } from "#src/domain/next-slots.ts";
import { contentHash } from "#src/domain/plan-post.ts";
import { checkSlotTimetable, WEEKDAYS } from "#src/domain/queue-slot-rule.ts";
import { createTakenSlots } from "#src/domain/slot-times.ts";
import { findZoneClock } from "#src/domain/zone-clock.ts";
import { parseListPosts } from "#src/rpc/list-posts.ts";
import { parseValidatePost } from "#src/rpc/parse-post.ts";

/** Runs a parser that throws for texts that it refuses. */
function tryTo(parse: () => unknown): unknown {
  try {
    return parse();
  } catch {
    return undefined;
  }
}

const KEYS = deriveCursorKeys("posts", ["secret"]);
const ID = "0198c2f0-0000-7000-8000-000000000001";
const TIMETABLE = { weekdays: ["mon"], times: ["09:00"], timezone: "UTC" };

const NOW = new Date("2026-11-20T12:00:00Z");
/** Thirty queue-slot rules that together create a slot every minute. */
const RULES = Array.from({ length: 30 }, (_, minute) => ({
  ...TIMETABLE,
  id: `rule ${minute}`,
  status: "active" as const,
  createdAt: NOW,
  weekdays: WEEKDAYS,
  times: Array.from({ length: 48 }, (_, index) =>
    new Date((index * 30 + minute) * 60_000).toISOString().slice(11, 16),
  ),
  startsOn: null,
  endsOn: null,
}));

/** Searches free queue slots after the first slots were taken, as many as a text has characters. */
function searchSlots({ length }: string): void {
  const taken = createTakenSlots(
    Array.from({ length }, (_, index) => NOW.getTime() + (index + 1) * 60_000),
  );
  const options = { after: NOW, taken, count: 3 };
  for (const _step of firstFreeSlots(RULES, options));
  for (const _step of nextFreeSlots(RULES, options));
}

const PARSERS = {
  "the parser for cursors": (text) => decodeCursor(KEYS, ["scope"], text),
  "the parser for cursors that contain a text": (text) =>
    tryTo(() => requireTextCursor(KEYS, ["scope"], text)),
  "the check of ids": isId,
  "the parser for the filters of a list of posts": (text) =>
    tryTo(() =>
      parseListPosts(
        create(ListPostsRequestSchema, {
          workspaceId: ID,
          limit: 20,
          status: text,
          platform: text,
          createdVia: text,
          from: text,
          to: text,
        }),
      ),
    ),
  "the parser for posts": (text) =>
    tryTo(() =>
      parseValidatePost(
        create(ValidatePostRequestSchema, {
          workspaceId: ID,
          content: text,
          accountIds: [ID],
          options: JSON.stringify({ [text]: { content: text, privacy: text } }),
        }),
      ),
    ),
  "the hash of a post's text": (text) => contentHash(text, []),
  "the search for free queue slots, with a taken slot per character": searchSlots,
  "the names of time zones": findZoneClock,
  "the check of timetables": (text) =>
    checkSlotTimetable({
      ...TIMETABLE,
      weekdays: [text],
      times: [text],
      startsOn: text,
      endsOn: text,
    }),
} satisfies Readonly<Record<string, (text: string) => unknown>>;

test.each(Object.entries(PARSERS))(
  "the run time of %s grows linearly with the length of the text",
  (_name, parse) => {
    expect(() => expectLinear(parse)).not.toThrow();
  },
);
