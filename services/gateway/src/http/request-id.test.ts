import { isId } from "@postrider/shared/ids";
import { describe, expect, it } from "vitest";
import { requestIdOf } from "./request-id.ts";

describe("requestIdOf", () => {
  it.each(["a", "!~", "my-request/1", "x".repeat(128)])("keeps %j", (id) => {
    expect(requestIdOf(id)).toBe(id);
  });

  it.each([undefined, "", "x".repeat(129), "a b", "a\n", "a\u007f", "é", ["a"], ["a", "b"]])(
    "replaces %j by a new UUIDv7",
    (header) => {
      const id = requestIdOf(header);
      expect(isId(id)).toBe(true);
      expect(id[14]).toBe("7");
      expect(requestIdOf(header)).not.toBe(id);
    },
  );
});
