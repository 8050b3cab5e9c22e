import { expectLinear } from "@postrider/shared/testing/expect-linear";
import { expect, test } from "vitest";
import { ownPdsUrlOf } from "#src/bluesky/find-repository.ts";
import { createFacets, findFirstLink, findMentions } from "#src/bluesky/publishing/facets.ts";
import { toCard } from "#src/bluesky/publishing/link-card.ts";
import { toPostFields } from "#src/facebook/publishing/post-steps.ts";
import type { Publication } from "#src/publishing/publication.ts";
import { parseChatAddress } from "#src/telegram/chat-address.ts";
import { composeText, findLongMarkRun, normalizeText } from "#src/text/normalize-text.ts";
import { parseTelegramHtml } from "#src/text/telegram-html.ts";
import { countText } from "#src/text/text.ts";
import { findUrls } from "#src/text/urls.ts";
import { compareSent, compareShown, normalizeUrl } from "#src/x/publishing/timeline-text.ts";

const publication = (text: string) => ({ text, media: [] }) as unknown as Publication;

const PARSERS = {
  "the search for URLs as X defines them": findUrls,
  "the weighted length": (text) => countText(text, "weighted"),
  "the number of graphemes": (text) => countText(text, "graphemes"),
  "the number of hashtags": (text) => countText(text, "hashtags"),
  "the number of mentions": (text) => countText(text, "mentions"),
  "the search for runs of combining marks": findLongMarkRun,
  "the composed form of a text": composeText,
  "the form in which texts are compared": normalizeText,
  "the parser for Telegram's HTML": parseTelegramHtml,
  "the parser for addresses of Telegram chats": parseChatAddress,
  "the comparison with texts on X": compareSent,
  "the comparison with texts that X shows": (text) => compareShown(text, []),
  "the comparison of links on X": normalizeUrl,
  "the facets of Bluesky": (text) => createFacets(text, new Map()),
  "the first link for Bluesky": findFirstLink,
  "the mentions for Bluesky": findMentions,
  "the reader of linked web pages": (text) => toCard("https://example.com", text),
  "the reader of a Bluesky account's server": (text) =>
    ownPdsUrlOf(
      { service: [{ type: "AtprotoPersonalDataServer", serviceEndpoint: text }] },
      "https://bsky.social",
    ),
  "the fields of a Facebook post": (text) => toPostFields(publication(text), {}),
} satisfies Readonly<Record<string, (text: string) => unknown>>;

test.each(Object.entries(PARSERS))(
  "the run time of %s grows linearly with the length of the text",
  (_name, parse) => {
    expect(() => expectLinear(parse)).not.toThrow();
  },
);
