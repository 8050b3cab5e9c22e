import { expect, test } from "vitest";
import { deriveTimedId, firstIdAt, isId } from "#src/ids.ts";

test.each([new Date(-1), new Date("1960-01-01T00:00:00Z"), new Date(0), new Date()])(
  "an id that begins with the time %s is an id, also before the first time that an id can have",
  (at) => {
    expect([firstIdAt(at), deriveTimedId(at, "a text")].filter((id) => !isId(id))).toEqual([]);
  },
);
