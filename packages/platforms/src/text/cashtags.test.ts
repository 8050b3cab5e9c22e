import { expect, test } from "vitest";
import { countCashtags } from "#src/text/text.ts";

test.each([
  ["$AAPL and $TSLA up", 2],
  ["$AAPL $TSLA", 2],
  ["$aapl, $AAPL.", 2],
  ["$BRK.A rises", 1],
  ["it costs $5 or US$AAPL", 0],
  ["$TOOLONGS is too long", 0],
  ["no tag", 0],
])("the text %j has %i cashtags", (text, count) => {
  expect(countCashtags(text)).toBe(count);
});
