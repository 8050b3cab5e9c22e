import { expect, test } from "vitest";
import { readTimeSettings, timeEnvironment } from "#src/time-settings.ts";

test("a time that is set replaces the default, as a number or as a list", () => {
  const settings = readTimeSettings({ LEASE_SECONDS: "2.5", PUBLISH_RETRY_SECONDS: "1, 2" });

  expect(settings).toMatchObject({
    LEASE_SECONDS: 2.5,
    PUBLISH_RETRY_SECONDS: [1, 2],
    VISIBLE_CALL_SECONDS: 60,
    COMMENT_POLL_SECONDS: 2,
  });
});

test("an error names every value that is not a time", () => {
  expect(() => readTimeSettings({ LEASE_SECONDS: "soon", PUBLISH_RETRY_SECONDS: "1,x" })).toThrow(
    /PUBLISH_RETRY_SECONDS[\s\S]*LEASE_SECONDS/,
  );
});

test("services are given the times in the form they read", () => {
  expect(timeEnvironment({ LEASE_SECONDS: 2.5, PUBLISH_RETRY_SECONDS: [1, 2] })).toEqual({
    LEASE_SECONDS: "2.5",
    PUBLISH_RETRY_SECONDS: "1,2",
  });
});
