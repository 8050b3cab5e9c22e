import { expect, test } from "vitest";
import { appLimitReached, limitReached } from "./outcome.ts";

test("a limit that a platform states to be longer than a day lasts for a day, and a shorter one as long as it states", () => {
  const day = 86_400_000;
  for (const reached of [limitReached, appLimitReached]) {
    expect(reached("rate_limited", "", 1e15)).toMatchObject({ retryAfterMs: day });
    expect(reached("rate_limited", "", Infinity)).toMatchObject({ retryAfterMs: day });
    expect(reached("rate_limited", "", 60_000)).toMatchObject({ retryAfterMs: 60_000 });
  }
});
