import fc from "fast-check";
import { expect, test } from "vitest";
import { effectiveContent, findOptionKey } from "./effective-content.ts";
import type { PostOption } from "./post.ts";

const TARGET = { accountId: "0198c2f0-0000-7000-8000-000000000001", platform: "x" };

const option: fc.Arbitrary<PostOption> = fc.record(
  { content: fc.string(), title: fc.string(), privacy: fc.string(), tags: fc.array(fc.string()) },
  { requiredKeys: [] },
);

test("the content of a target for which the post has no option is the text of the post alone", () => {
  expect(effectiveContent("hello", { bluesky: { content: "other" } }, TARGET)).toEqual({
    text: "hello",
  });
});

test("an account's option for a field overrides the platform's option, and both override the field of the post", () => {
  fc.assert(
    fc.property(fc.string(), option, option, (text, ofPlatform, ofAccount) => {
      const options = { x: ofPlatform, [TARGET.accountId]: ofAccount };
      const { content, ...fields } = { content: text, ...ofPlatform, ...ofAccount };
      expect(effectiveContent(text, options, TARGET)).toEqual({ text: content, ...fields });
    }),
  );
});

test("findOptionKey returns under which key of the options (account id or platform) the value stands that is published for a field", () => {
  fc.assert(
    fc.property(option, option, (ofPlatform, ofAccount) => {
      const options = { x: ofPlatform, [TARGET.accountId]: ofAccount };
      const { text, ...fields } = effectiveContent("text of the post", options, TARGET);
      for (const field of ["content", "title", "privacy", "tags"] as const) {
        const key = findOptionKey(options, TARGET, field);
        const used = field === "content" ? text : fields[field];
        const expected = field === "content" ? "text of the post" : undefined;
        expect(used).toEqual(key === undefined ? expected : options[key]?.[field]);
      }
    }),
  );
});

test("an empty post option overrides the value of the post", () => {
  expect(effectiveContent("hello", { x: { content: "", tags: [] } }, TARGET)).toEqual({
    text: "",
    tags: [],
  });
});
