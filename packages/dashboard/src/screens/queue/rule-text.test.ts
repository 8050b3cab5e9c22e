import { beforeAll, expect, test } from "vitest";
import { loadTemporal } from "../../time/load-temporal.ts";
import { queueWords } from "./queue-words.ts";
import { type Weekday, weekdaysText } from "./rule-text.ts";

beforeAll(loadTemporal);

const en = (...weekdays: readonly Weekday[]) => weekdaysText(weekdays, "en", queueWords.en);
const ko = (...weekdays: readonly Weekday[]) => weekdaysText(weekdays, "ko", queueWords.ko);

test("weekdays in a row are a range, others a list in the order of the week", () => {
  expect(en("mon", "tue", "wed", "thu", "fri")).toBe("Mon to Fri");
  expect(en("fri", "wed")).toBe("Wed, Fri");
  expect(en("sat", "sun")).toBe("Sat, Sun");
  expect(en("mon", "tue", "thu")).toBe("Mon, Tue, Thu");
  expect(en("sun", "mon", "tue", "wed", "thu", "fri", "sat")).toBe("Every day");
});

test("Korean weekdays have one syllable", () => {
  expect(ko("mon", "tue", "wed")).toBe("월~수");
  expect(ko("mon", "sat")).toBe("월, 토");
});
