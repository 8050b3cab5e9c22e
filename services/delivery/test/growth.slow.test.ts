import { expectLinear } from "@postrider/shared/testing/expect-linear";
import { expect, test } from "vitest";
import { parseState } from "#src/engagement/domain/merge-hidden-comments.ts";
import { foldText, isAtMost, isMediaId } from "#src/engagement/domain/text.ts";
import { parseRetryAfter } from "#src/webhooks/domain/attempt.ts";

const PARSERS = {
  "the folding of comments and keywords": foldText,
  "the limit on texts": (text) => isAtMost(text, 1_000),
  "the check of ids of media": isMediaId,
  "the state of a list of hidden comments": (text) => {
    try {
      return parseState(text);
    } catch {
      return undefined;
    }
  },
  "the parser for Retry-After": (text) => parseRetryAfter(text, new Date(0)),
} satisfies Readonly<Record<string, (text: string) => unknown>>;

test.each(Object.entries(PARSERS))(
  "the run time of %s grows linearly with the length of the text",
  (_name, parse) => {
    expect(() => expectLinear(parse)).not.toThrow();
  },
);
