import { PostriderError } from "@postrider/client";
import { expect, test } from "vitest";
import { bodyOf, draftOf, faultsOf, refusalOf } from "./endpoint-draft.ts";
import { webhooksEn as words } from "./words-en.ts";

const draft = { ...draftOf(undefined), url: " https://example.com/hook ", isEverything: true };

test("a new endpoint needs an address and an event", () => {
  expect(faultsOf(draftOf(undefined), words)).toMatchObject({
    url: words.urlFault,
    events: words.eventsFault,
    rate: undefined,
  });
  expect(Object.values(faultsOf(draft, words)).filter(Boolean)).toEqual([]);
});

test.each(["ftp://example.com", "example.com", "http://", "https://a b"])(
  "%s is not accepted as the address of an endpoint",
  (url) => expect(faultsOf({ ...draft, url }, words).url).toBe(words.urlFault),
);

test.each([
  ["", undefined],
  ["1", undefined],
  ["100", undefined],
  ["0", words.rateFault],
  ["101", words.rateFault],
  ["2.5", words.rateFault],
])("the rate %j is judged as %j", (rate, fault) => {
  expect(faultsOf({ ...draft, rate }, words).rate).toBe(fault);
});

test("everything is sent as one filter, and no rate as null", () => {
  expect(bodyOf({ ...draft, chosen: ["post.*"] })).toEqual({
    url: "https://example.com/hook",
    description: "",
    events: ["*"],
    maxPerSecond: null,
  });
});

function refusal(path: string) {
  return new PostriderError({
    code: "address_not_allowed",
    message: "refused",
    status: 422,
    details: [{ code: "webhook_not_public", message: "refused", path }],
    requestId: null,
    retryAfterSeconds: null,
  });
}

test("what the server refuses stands at its field, and otherwise nowhere", () => {
  expect(refusalOf(refusal("/url"), words)).toEqual({ url: words.urlRefused });
  expect(refusalOf(refusal("/status"), words)).toBeUndefined();
});
