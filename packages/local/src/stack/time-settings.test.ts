import { expect, test } from "vitest";
import { readTimeSettings, timeEnvironment } from "#src/stack/time-settings.ts";

test("a number or a list of numbers in the environment replaces the default of a time setting", () => {
  const settings = readTimeSettings({ LEASE_SECONDS: "2.5", PUBLISH_RETRY_SECONDS: "1, 2" });

  expect(settings).toMatchObject({
    LEASE_SECONDS: 2.5,
    PUBLISH_RETRY_SECONDS: [1, 2],
    VISIBLE_CALL_SECONDS: 60,
    COMMENT_POLL_SECONDS: 2,
  });
});

test("one error names every time setting whose value is not a time", () => {
  expect(() => readTimeSettings({ LEASE_SECONDS: "soon", PUBLISH_RETRY_SECONDS: "1,x" })).toThrow(
    /PUBLISH_RETRY_SECONDS[\s\S]*LEASE_SECONDS/,
  );
});

test("time settings are passed to the services in the format that the services parse", () => {
  expect(timeEnvironment({ LEASE_SECONDS: 2.5, PUBLISH_RETRY_SECONDS: [1, 2] })).toEqual({
    LEASE_SECONDS: "2.5",
    PUBLISH_RETRY_SECONDS: "1,2",
  });
});
